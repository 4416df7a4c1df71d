import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("A block of the requester")
struct RequesterBlockTests {
    @Test("hides the request from the recipient, now and later, until the block is ended", arguments: [true, false])
    func requests(endsByUser: Bool) async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let first = try await bench.request(alice, bob)
            for _ in 0..<2 { try await bench.context.blockRequester(of: first, for: bob) }
            await #expect(throws: Refusal(.notFound, "")) { try await bench.context.readAuthorization(first, to: bob) }
            #expect(try await bench.context.readAuthorization(first, to: alice).authorization.state == .request)
            _ = try await bench.context.cancelAuthorization(first, for: alice)
            let second = try await bench.request(alice, bob)
            #expect(try await bench.list(bob, "in", "REQUEST").isEmpty)
            _ = try await bench.deliver()
            #expect(bench.pushes.endpoints.isEmpty)

            for _ in 0..<2 {
                if endsByUser {
                    try await bench.context.unblockUser(alice.userID.description, for: bob)
                } else {
                    try await bench.context.unblockRequester(of: first, for: bob)
                }
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.approveAuthorization(second, for: bob)
            }
            _ = try await bench.context.cancelAuthorization(second, for: alice)
            let third = try await bench.request(alice, bob)
            #expect(try await bench.context.approveAuthorization(third, for: bob).grant != nil)
        }
    }

    @Test("ends a permission and the recipient's own request")
    func permissions() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let approved = try await bench.request(alice, bob)
            _ = try await bench.context.approveAuthorization(approved, for: bob)
            try await bench.context.blockRequester(of: approved, for: bob)
            for person in [alice, bob] {
                let view = try await bench.context.readAuthorization(approved, to: person)
                #expect(view.authorization.state == .cancelled)
            }
            try await bench.context.unblockRequester(of: approved, for: bob)
            let (there, back) = (try await bench.request(alice, bob), try await bench.request(bob, alice))
            try await bench.context.blockRequester(of: there, for: bob)
            #expect(try await bench.context.readAuthorization(there, to: alice).authorization.state == .request)
            #expect(await bench.state { try await bench.context.approveAuthorization(back, for: alice) } == "CANCELLED")
        }
    }

    @Test("names the authorization in the export, and no user")
    func export() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let carol = try await bench.person("carol")
            let id = try await bench.request(alice, bob)
            try await bench.context.blockRequester(of: id, for: bob)
            try await bench.context.blockUser(carol.userID.description, for: bob)
            let export = try await bench.context.exportPersonalData(for: bob).json
            #expect(export["blocked"] == .array([.string(carol.userID.description)]))
            #expect(export["blocked_requesters"] == .array([.string(id)]))
            #expect(!export.jsonText.contains(alice.userID.description))
        }
    }

    @Test("is the recipient's alone, and one of as many blocks as a user may have")
    func rights() async throws {
        try await AuthorizationBench.run {
            $0.authorizations.blocksPerUser = 1
        } _: { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let carol = try await bench.person("carol")
            let id = try await bench.request(alice, bob)
            let unknown = try await bench.request(alice, "test/nobody")
            for (name, person) in [(id, alice), (id, carol), (unknown, alice), (UUID().uuidString, bob), ("x", bob)] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await bench.context.blockRequester(of: name, for: person)
                }
            }
            try await bench.context.blockUser(carol.userID.description, for: bob)
            let full = await #expect(throws: Refusal(.conflict, "")) {
                try await bench.context.blockRequester(of: id, for: bob)
            }
            #expect(full?.state == "full")
            #expect(try await bench.context.readAuthorization(id, to: bob).authorization.state == .request)
            try await bench.context.unblockUser(carol.userID.description, for: bob)
            try await bench.context.blockRequester(of: id, for: bob)
            // Nobody else's block is ended, and an erased requester is blocked like any other.
            try await bench.context.unblockRequester(of: id, for: alice)
            #expect(
                try await bench.store.read { try BlockRepository($0).holds(bob.userID, blocks: alice.userID) })
            let erased = try await bench.request(carol, bob)
            _ = try await bench.context.erasePersonalData(for: carol)
            try await bench.context.blockRequester(of: erased, for: bob)
        }
    }
}
