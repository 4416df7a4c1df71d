import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("The end of authorizations")
struct AuthorizationEndTests {
    @Test("is the requester's to bring about while a request is open, and either side's once it is approved")
    func cancellation() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            for side in [alice, bob] {
                let id = try await bench.request(alice, bob)
                #expect(await bench.state { try await bench.context.cancelAuthorization(id, for: bob) } == "REQUEST")
                _ = try await bench.context.approveAuthorization(id, for: bob)
                let view = try await bench.context.cancelAuthorization(id, for: side)
                #expect(view.authorization.state == .cancelled)
                #expect(view.grant == nil && view.partner == nil)
                for reader in [alice, bob] {
                    #expect(try await bench.context.readAuthorization(id, to: reader).grant == nil)
                }
            }
            let id = try await bench.request(alice, bob)
            #expect(try await bench.context.cancelAuthorization(id, for: alice).authorization.state == .cancelled)
            #expect(try await bench.countOpen(alice) == 0)
        }
    }

    @Test("comes with a ban: all that is open of the banned user is withdrawn on both sides, nothing else")
    func ban() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let (carol, dave) = (try await bench.person("carol"), try await bench.person("dave"))
            let approved = try await bench.request(alice, bob)
            _ = try await bench.context.approveAuthorization(approved, for: bob)
            let asked = try await bench.request(carol, alice)
            let declined = try await bench.request(dave, alice)
            _ = try await bench.context.rejectAuthorization(declined, for: alice)
            let others = try await bench.request(carol, dave)
            #expect(try await bench.countOpen(alice) == 2)
            #expect(try await bench.countOpen(carol) == 2)
            #expect(try await bench.ban(alice) == 2)
            #expect(try await bench.ban(alice) == 0)
            #expect(try await bench.countOpen(alice) == 0)
            #expect(try await bench.countOpen(carol) == 1)
            #expect(try await bench.rows(approved).map(\.type) == [.request, .approval, .banned])
            #expect(try await bench.rows(asked).map(\.type) == [.request, .banned])
            #expect(try await bench.rows(declined).map(\.type) == [.request, .rejected])
            #expect(try await bench.rows(others).map(\.type) == [.request])
            #expect(try await bench.context.readAuthorization(approved, to: bob).grant == nil)
            #expect(await bench.state { try await bench.context.approveAuthorization(asked, for: alice) } == "BANNED")
            #expect(await bench.state { try await bench.context.cancelAuthorization(approved, for: bob) } == "BANNED")
            #expect(try await bench.list(bob, "in", "BANNED").count == 1)
        }
    }

    @Test(
        "comes with a block, quietly: permissions end, requests disappear on one side, an end of the block revives none"
    )
    func block() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let (first, second) = (try await bench.request(alice, bob), try await bench.request(bob, alice))
            _ = try await bench.context.approveAuthorization(first, for: bob)
            for _ in 0..<2 { try await bench.context.blockUser(alice.userID.description, for: bob) }
            #expect(try await bench.context.readAuthorization(first, to: alice).authorization.state == .cancelled)
            #expect(try await bench.context.readAuthorization(second, to: alice).authorization.state == .cancelled)
            let third = try await bench.request(alice, bob)
            for _ in 0..<2 { try await bench.context.unblockUser(alice.userID.description, for: bob) }
            #expect(try await bench.context.readAuthorization(third, to: alice).authorization.state == .request)
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.approveAuthorization(third, for: bob)
            }
            _ = try await bench.context.cancelAuthorization(third, for: alice)
            let fourth = try await bench.request(alice, bob)
            try await bench.context.blockUser(alice.userID.description, for: bob)
            #expect(try await bench.list(bob, "in", "REQUEST").isEmpty)
            #expect(try await bench.context.readAuthorization(fourth, to: alice).authorization.state == .request)
            try await bench.context.blockUser(UUID().uuidString, for: bob)
            try await bench.context.unblockUser(UUID().uuidString, for: bob)
            await #expect(throws: Refusal(.malformedRequest, "")) {
                try await bench.context.blockUser(bob.userID.description, for: bob)
            }
        }
    }

    @Test("of one more block than a user may hold does not come: an end of another makes room")
    func blockLimit() async throws {
        try await AuthorizationBench.run {
            $0.authorizations.blocksPerUser = 1
        } _: { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let carol = try await bench.person("carol")
            let permitted = try await bench.request(carol, alice)
            _ = try await bench.context.approveAuthorization(permitted, for: alice)
            try await bench.context.blockUser(bob.userID.description, for: alice)
            let full = await #expect(throws: Refusal(.conflict, "")) {
                try await bench.context.blockUser(carol.userID.description, for: alice)
            }
            #expect(full?.state == "full")
            #expect(try await bench.context.readAuthorization(permitted, to: alice).authorization.state == .approval)
            try await bench.context.unblockUser(bob.userID.description, for: alice)
            try await bench.context.blockUser(carol.userID.description, for: alice)
            #expect(try await bench.context.readAuthorization(permitted, to: alice).authorization.state == .cancelled)
        }
    }

    @Test("comes with an erasure: the partner sees it taken back without a person, requesters learn nothing")
    func erasure() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let (carol, dave) = (try await bench.person("carol"), try await bench.person("dave"))
            let erin = try await bench.person("erin")
            let approved = try await bench.request(alice, bob)
            _ = try await bench.context.approveAuthorization(approved, for: bob)
            let given = try await bench.request(carol, alice)
            _ = try await bench.context.approveAuthorization(given, for: alice)
            let asked = try await bench.request(alice, "test/erin", event: "e")
            let received = try await bench.request(erin, alice)
            let lost = try await bench.request(alice, "test/nobody")
            try await bench.context.blockUser(dave.userID.description, for: alice)
            let hidden = try await bench.request(dave, alice)
            _ = try await bench.context.erasePersonalData(for: alice)
            for (id, partner) in [(approved, bob), (given, carol), (asked, erin)] {
                let view = try await bench.context.readAuthorization(id, to: partner)
                #expect(view.authorization.state == .cancelled, "\(id)")
                #expect(view.partner == nil && view.grant == nil)
            }
            for (id, requester) in [(received, erin), (hidden, dave)] {
                #expect(try await bench.context.readAuthorization(id, to: requester).authorization.state == .request)
            }
            #expect(try await bench.countOpen(alice) == 0)
            #expect(try await bench.rows(lost).isEmpty)
            let rows = try await bench.store.read { transaction in
                try transaction.query(
                    "SELECT asker_id, accepter_id, sealed_to FROM authorizations WHERE asker_id = $1 OR accepter_id = $1",
                    [.text(alice.userID.description)]
                ).count
            }
            #expect(rows == 0)
            // Who comes back under the name begins anew.
            let again = try await bench.person("alice")
            #expect(again.userID == alice.userID)
            #expect(try await bench.list(again).isEmpty)
        }
    }

    @Test("are listed newest first in pages that join without a gap, by box and state")
    func pages() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            var ids: [String] = []
            for index in 0..<130 {
                if index.isMultiple(of: 3) { bench.clock.advance(1) }
                ids.append(try await bench.request(alice, "test/nobody \(index)"))
            }
            let received = try await bench.request(bob, alice)
            var seen: [AuthorizationView] = []
            var cursor: String?
            for _ in 0..<3 {
                let page = try await bench.context.listAuthorizations(
                    .init(box: nil, state: nil, cursor: cursor), for: alice)
                #expect(page.views.count == (seen.count < 100 ? Service.AuthorizationPage.size : 31))
                seen += page.views
                cursor = page.cursor
            }
            #expect(cursor == nil)
            #expect(Set(seen.map(\.authorization.id.description)) == Set(ids + [received]))
            let times = seen.map(\.authorization.createdAt)
            #expect(times == times.sorted(by: >))
            #expect(try await bench.list(alice, "in").map(\.authorization.id.description) == [received])
            #expect(try await bench.list(alice, "out", "APPROVAL").isEmpty)
            for (box, state, cursor) in [("all", nil, nil), (nil, "request", nil), (nil, nil, "x")]
                as [(String?, String?, String?)]
            {
                #expect(throws: Refusal(.malformedRequest, "")) {
                    try Service.AuthorizationFilter(box: box, state: state, cursor: cursor)
                }
            }
        }
    }

    @Test(
        "refuse a cursor whose time no row can have, the least number among them",
        arguments: [Int64.min, .min + 1, -1 << 52, -1, 1 << 52, .max])
    func cursorTimes(time: Int64) {
        let cursor = Base64URL.encode(Array("\(time) 2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d".utf8))
        #expect(throws: Refusal(.malformedRequest, "")) {
            try Service.AuthorizationFilter(box: nil, state: nil, cursor: cursor)
        }
    }

    @Test("are part of what a user takes along")
    func export() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, "test/bob", event: "event 7")
            try await bench.context.blockUser(bob.userID.description, for: alice)
            let text = try await bench.context.exportPersonalData(for: alice).json.jsonText
            for part in [id, "test/bob", "event 7", bob.userID.description] { #expect(text.contains(part)) }
            let other = try await bench.context.exportPersonalData(for: bob).json.jsonText
            #expect(other.contains(id))
            #expect(!other.contains("event 7"))
        }
    }
}
