import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Operations

@Suite("Two users who request each other")
struct CrossedRequestTests {
    /// Alice's request to bob and bob's to alice.
    private static func crossed(
        _ bench: AuthorizationBench, _ alice: Session, _ bob: Session
    ) async throws -> (there: String, back: String) {
        (try await bench.request(alice, bob), try await bench.request(bob, alice))
    }

    /// The states of some authorizations, as both users see them.
    private static func states(
        _ ids: [String], of people: [Session], _ bench: AuthorizationBench
    ) async throws -> [[MessagingPermission.State]] {
        var seen: [[MessagingPermission.State]] = []
        for person in people {
            var states: [MessagingPermission.State] = []
            for id in ids {
                states.append(try await bench.context.readAuthorization(id, to: person).authorization.state)
            }
            seen.append(states)
        }
        return seen
    }

    @Test("have one permission once both approve, and cannot write once either cancels it", arguments: StoreKind.shared)
    func oneCancels(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (people, context) = (bench.people, bench.people.context)
            let (alice, bob) = (try await people.person("alice"), try await people.person("bob"))
            var stream: String?
            for (canceller, isCrossed) in [(alice, true), (bob, true), (alice, false), (bob, false)] {
                let (there, back) = try await Self.crossed(people, alice, bob)
                let first = try await context.approveAuthorization(there, for: bob)
                let second = try await context.approveAuthorization(back, for: alice)
                // Both answers are the one permission.
                #expect([first, second].map(\.authorization.id.description) == [there, there])
                #expect(second.box == .outgoing && second.grant == first.grant && second.grant != nil)
                #expect(
                    try await Self.states([there, back], of: [alice, bob], people)
                        == [[.approval, .cancelled], [.approval, .cancelled]])
                let talk = try await bench.open("direct", [bob], by: alice)
                stream = stream ?? talk
                try await bench.send("hi", to: stream ?? talk, by: bob)

                let ended = isCrossed ? back : there
                for _ in 0..<2 {
                    let view = try await context.cancelAuthorization(ended, for: canceller)
                    #expect(view.authorization.id.description == ended && view.authorization.state == .cancelled)
                }
                for person in [alice, bob] {
                    let refusal = await #expect(throws: Refusal(.conflict, "")) {
                        try await bench.send("still here", to: stream ?? talk, by: person)
                    }
                    #expect(refusal?.state == "closed")
                    #expect(try await people.list(person, nil, "APPROVAL").isEmpty)
                }
                // No older request brings the permission back.
                #expect(await people.state { try await context.approveAuthorization(there, for: bob) } == "CANCELLED")
                #expect(await people.state { try await context.approveAuthorization(back, for: alice) } == "CANCELLED")
            }
        }
    }

    @Test("have no permission if one of them rejects after the other approved")
    func lateRejection() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let (there, back) = try await Self.crossed(bench, alice, bob)
            _ = try await bench.context.approveAuthorization(there, for: bob)
            for _ in 0..<2 {
                let view = try await bench.context.rejectAuthorization(back, for: alice)
                #expect(view.authorization.id.description == back && view.authorization.state == .cancelled)
                #expect(
                    try await Self.states([there, back], of: [alice, bob], bench)
                        == [[.cancelled, .cancelled], [.cancelled, .cancelled]])
            }
        }
    }

    @Test("keep a later permission if somebody cancels an older one again")
    func repeatedCancellation() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let (there, back) = try await Self.crossed(bench, alice, bob)
            _ = try await bench.context.approveAuthorization(there, for: bob)
            _ = try await bench.context.cancelAuthorization(there, for: alice)
            let later = try await bench.request(bob, alice)
            #expect(try await bench.context.approveAuthorization(later, for: alice).grant != nil)
            for id in [there, back] {
                for person in [alice, bob] { _ = try await bench.context.cancelAuthorization(id, for: person) }
            }
            #expect(try await bench.context.readAuthorization(later, to: bob).grant != nil)
        }
    }

    @Test("end the own request by a rejection, and leave the other's by a withdrawal")
    func rejection() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let (there, back) = try await Self.crossed(bench, alice, bob)
            _ = try await bench.context.rejectAuthorization(there, for: bob)
            #expect(
                try await Self.states([there, back], of: [alice, bob], bench)
                    == [[.rejected, .cancelled], [.rejected, .cancelled]])
            #expect(await bench.state { try await bench.context.approveAuthorization(back, for: alice) } == "CANCELLED")

            let (carol, dave) = (try await bench.person("carol"), try await bench.person("dave"))
            let (withdrawn, left) = try await Self.crossed(bench, carol, dave)
            _ = try await bench.context.cancelAuthorization(withdrawn, for: carol)
            #expect(try await bench.context.approveAuthorization(left, for: carol).grant != nil)
        }
    }

    @Test("learn nothing of a request that a block hides: it ends like any other")
    func hidden() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            try await bench.context.blockUser(alice.userID.description, for: bob)
            let (there, back) = try await Self.crossed(bench, alice, bob)
            _ = try await bench.context.approveAuthorization(back, for: alice)
            #expect(try await bench.context.readAuthorization(there, to: alice).authorization.state == .cancelled)
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.approveAuthorization(there, for: bob)
            }
        }
    }

    @Test("have a new permission after a ban that the row of the previous one has not followed yet")
    func revoked() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let there = try await bench.request(alice, bob)
            _ = try await bench.context.approveAuthorization(there, for: bob)
            #expect(try await bench.ban(alice) == 1)
            try await bench.store.write { _ = try $0.execute("UPDATE authorizations SET state = 'APPROVAL'") }
            let back = try await bench.request(bob, alice)
            #expect(try await bench.context.approveAuthorization(back, for: alice).grant != nil)
            #expect(
                try await Self.states([there, back], of: [alice, bob], bench)
                    == [[.banned, .approval], [.banned, .approval]])
        }
    }
}
