import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Authorizations between users")
struct AuthorizationTests {
    private static let day = 86_400.0

    @Test("become two rows under one id: a request, then an approval that permits both directions")
    func approval() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, "test/bob", event: "event 7")
            #expect(try await bench.rows(id).map(\.type) == [.request])
            let view = try await bench.context.approveAuthorization(id, for: bob)
            #expect(try await bench.rows(id).map(\.type) == [.request, .approval])
            let grant = "\(alice.userID) -> \(bob.userID)"
            #expect(view.grant == grant)
            #expect(view.partner?.pushEndpoint == AuthorizationBench.endpoint("alice"))
            let rebuilt = try #require(try await bench.list(alice).first)
            #expect(rebuilt.grant == grant)
            #expect(rebuilt.partner?.pushEndpoint == AuthorizationBench.endpoint("bob"))
            #expect((rebuilt.to, rebuilt.eventID) == ("test/bob", "event 7"))
            #expect(try await bench.context.readAuthorization(id, to: bob).grant == grant)
        }
    }

    @Test("become two rows when they are declined, and permit nothing")
    func rejection() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            #expect(try await bench.context.rejectAuthorization(id, for: bob).authorization.state == .rejected)
            #expect(try await bench.rows(id).map(\.type) == [.request, .rejected])
            let seen = try await bench.context.readAuthorization(id, to: alice)
            #expect(seen.authorization.state == .rejected)
            #expect(seen.grant == nil && seen.partner == nil)
        }
    }

    @Test("are asked once however often the call is repeated; another body is a conflict, another's id unknown")
    func idempotency() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let carol = try await bench.person("carol")
            let id = try await bench.request(alice, "test/bob", event: "e")
            #expect(try await bench.request(alice, "test/bob", id: id.uppercased(), event: "e") == id)
            #expect(try await bench.rows(id).count == 1)
            for (to, event) in [("test/carol", "e"), ("test/bob", "f"), ("test/bob", "e\u{301}"), ("test/bob", nil)] {
                await #expect(throws: Refusal(.conflict, "")) {
                    try await bench.request(alice, to, id: id, event: event)
                }
            }
            for other in [bob, carol] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await bench.request(other, "test/alice", id: id, event: "e")
                }
            }
            _ = try await bench.context.approveAuthorization(id, for: bob)
            #expect(try await bench.request(alice, "test/bob", id: id, event: "e") == id)
        }
    }

    @Test("answer a repeated call alike, and say which state forbids another")
    func repetition() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let carol = try await bench.person("carol")
            let id = try await bench.request(alice, bob)
            for stranger in [alice, carol] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await bench.context.approveAuthorization(id, for: stranger)
                }
                await #expect(throws: Refusal(.notFound, "")) {
                    try await bench.context.rejectAuthorization(id, for: stranger)
                }
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.cancelAuthorization(id, for: carol)
            }
            await #expect(throws: Refusal(.notFound, "")) { try await bench.context.readAuthorization(id, to: carol) }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.approveAuthorization("x", for: bob)
            }
            #expect(await bench.state { try await bench.context.cancelAuthorization(id, for: bob) } == "REQUEST")
            for _ in 0..<2 {
                #expect(try await bench.context.approveAuthorization(id, for: bob).authorization.state == .approval)
            }
            #expect(await bench.state { try await bench.context.rejectAuthorization(id, for: bob) } == "APPROVAL")
            for side in [bob, alice] {
                #expect(try await bench.context.cancelAuthorization(id, for: side).authorization.state == .cancelled)
            }
            #expect(await bench.state { try await bench.context.approveAuthorization(id, for: bob) } == "CANCELLED")
            #expect(try await bench.rows(id).map(\.type) == [.request, .approval, .cancelled])
        }
    }

    @Test("need both sides verified: at asking, at approval and at reading")
    func levels() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let carol = try await bench.person("carol", level: .phone)
            let caller = Refusal(.notVerified, "", reason: .caller)
            let partner = Refusal(.notVerified, "", reason: .partner)
            let refusal = await #expect(throws: caller) { try await bench.request(carol, bob) }
            #expect(refusal?.requiredLevel == .barcode)
            await #expect(throws: partner) { try await bench.request(alice, carol) }
            let id = try await bench.request(alice, bob)
            try await bench.setLevel(.phone, of: alice)
            await #expect(throws: partner) { try await bench.context.approveAuthorization(id, for: bob) }
            await #expect(throws: partner) { try await bench.context.readAuthorization(id, to: bob) }
            await #expect(throws: caller) { try await bench.context.readAuthorization(id, to: alice) }
            #expect(try await bench.list(bob).first?.partner == nil)
            try await bench.setLevel(.barcode, of: alice)
            try await bench.setLevel(.phone, of: bob)
            await #expect(throws: caller) { try await bench.context.approveAuthorization(id, for: bob) }
            await #expect(throws: caller) { try await bench.list(bob) }
            #expect(try await bench.rows(id).map(\.type) == [.request])
            try await bench.setLevel(.barcode, of: bob)
            #expect(try await bench.context.approveAuthorization(id, for: bob).grant != nil)
            try await bench.setLevel(.phone, of: bob)
            let repeated = try await bench.context.approveAuthorization(id, for: bob)
            #expect(repeated.grant == nil && repeated.partner == nil)
            await #expect(throws: partner) { try await bench.context.readAuthorization(id, to: alice) }
            let listed = try #require(try await bench.list(alice).first)
            #expect(listed.grant == nil && listed.partner == nil)
        }
    }

    @Test("at a lower level of the policy show no more than a card that still counts has proved")
    func lowLevel() async throws {
        let anybody: (inout Policy) -> Void = { $0.authorizations.requiredLevel = .none }
        try await AuthorizationBench.run(anybody) { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob", level: .none))
            let id = try await bench.request(alice, bob)
            #expect(try await bench.context.approveAuthorization(id, for: bob).partner?.initials == "MS")
            let view = try await bench.context.readAuthorization(id, to: alice)
            #expect(view.grant != nil)
            #expect(view.partner?.initials == nil && view.partner?.assurance == Assurance.none)
            try await bench.setLevel(.phone, of: alice)
            let lapsed = try #require(try await bench.context.readAuthorization(id, to: bob).partner)
            #expect(lapsed.initials == nil && lapsed.age == nil)
        }
    }

    @Test("stay within a provider: another's users, by id or address, are not found")
    func providers() async throws {
        try await AuthorizationBench.run { bench in
            let alice = try await bench.person("alice")
            let bob = try await bench.person("bob", at: "other")
            for to in [bob.userID.description, "other/bob", "nowhere/bob"] {
                await #expect(throws: Refusal(.notFound, "")) { try await bench.request(alice, to) }
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.blockUser(bob.userID.description, for: alice)
            }
            await #expect(throws: Refusal(.malformedRequest, "")) { try await bench.request(alice, "test/alice") }
            await #expect(throws: Refusal(.malformedRequest, "")) { try await bench.request(alice, "bob") }
        }
    }

    @Test("to the unknown and to who blocked the requester look like any other to the requester, and reach nobody")
    func noOracle() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let carol = try await bench.person("carol")
            try await bench.context.blockUser(alice.userID.description, for: bob)
            let usual = try await bench.request(alice, "test/carol")
            let blocked = try await bench.request(alice, "test/bob")
            let unknown = try await bench.request(alice, "test/nobody")
            let nobody = try await bench.request(alice, UUID().uuidString)
            for id in [usual, blocked, unknown, nobody] {
                let view = try await bench.context.readAuthorization(id, to: alice)
                #expect(view.authorization.state == .request)
                #expect(view.partner == nil && view.grant == nil && view.to != nil)
                #expect(view.authorization.expiresAt == bench.clock.now + 14 * Self.day)
            }
            for to in ["test/carol", "test/bob", "test/nobody"] {
                #expect(await bench.state { try await bench.request(alice, to) } == "REQUEST")
            }
            #expect(try await bench.list(bob, "in").isEmpty)
            for act in [
                bench.context.approveAuthorization, bench.context.rejectAuthorization,
                bench.context.readAuthorization(_:to:),
            ] {
                await #expect(throws: Refusal(.notFound, "")) { try await act(blocked, bob) }
            }
            // One who signs up under the name later is not told of it, nor is the requester.
            _ = try await bench.person("nobody")
            #expect(await bench.state { try await bench.request(alice, "test/nobody") } == "REQUEST")
            _ = try await bench.deliver()
            #expect(bench.pushes.endpoints == ["carol"])
            #expect(try await bench.list(carol, "in").count == 1)
            for id in [usual, blocked, unknown] {
                #expect(try await bench.context.cancelAuthorization(id, for: alice).authorization.state == .cancelled)
            }
            bench.clock.advance(14 * Self.day)
            #expect(try await bench.list(alice, "out", "EXPIRED").map(\.authorization.id.description) == [nobody])
        }
    }

    @Test("show the asked person the requester's initials, age, picture and level, and nothing more")
    func disclosure() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, "test/bob", event: "e")
            let view = try await bench.context.readAuthorization(id, to: bob)
            let partner = try #require(view.partner)
            #expect(partner.initials == "MS")
            #expect(partner.age == CalendarDate("1986-06-06")?.age(on: CalendarDate(utcDayOf: bench.clock.now)))
            #expect(partner.pictureURL == "https://pictures.example/alice.png")
            #expect(partner.assurance == .barcode)
            #expect(partner.pushEndpoint == nil)
            #expect(view.to == nil && view.eventID == nil && view.grant == nil)
        }
    }

    @Test("are at most 20 in any 24 hours; repetitions are none, people who are not verified count too")
    func quota() async throws {
        try await AuthorizationBench.run(rateLimiting: .on) { bench in
            let alice = try await bench.person("alice")
            let first = try await bench.request(alice, "test/0")
            bench.clock.advance(3600)
            for index in 1..<20 { try await bench.request(alice, "test/\(index)") }
            let refusal = await #expect(throws: Refusal(.rateLimited, "")) {
                try await bench.request(alice, "test/20")
            }
            #expect(refusal?.retryAfter == 23 * 3600)
            try await bench.request(alice, "test/0", id: first)
            bench.clock.advance(23 * 3600)
            try await bench.request(alice, "test/20")
            await #expect(throws: Refusal(.rateLimited, "")) { try await bench.request(alice, "test/21") }

            let bob = try await bench.person("bob")
            let carol = try await bench.person("carol", level: .phone)
            for _ in 0..<20 {
                await #expect(throws: Refusal(.notVerified, "", reason: .partner)) {
                    try await bench.request(bob, carol)
                }
            }
            await #expect(throws: Refusal(.rateLimited, "")) { try await bench.request(bob, carol) }
        }
    }

    @Test("may be asked for again after 30 days where they were declined, at once where they ended otherwise")
    func again() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            _ = try await bench.context.rejectAuthorization(try await bench.request(alice, bob), for: bob)
            bench.clock.advance(30 * Self.day - 1)
            for to in ["test/bob", bob.userID.description] {
                #expect(await bench.state { try await bench.request(alice, to) } == "REJECTED")
            }
            try await bench.request(bob, alice)
            bench.clock.advance(1)
            let id = try await bench.request(alice, "test/bob")
            #expect(await bench.state { try await bench.request(alice, bob) } == "REQUEST")
            _ = try await bench.context.cancelAuthorization(id, for: alice)
            let second = try await bench.request(alice, bob)
            #expect(await bench.state { try await bench.request(bob, "test/alice") } == "REQUEST")
            _ = try await bench.context.approveAuthorization(second, for: bob)
            for (requester, to) in [(bob, "test/alice"), (alice, "test/bob")] {
                #expect(await bench.state { try await bench.request(requester, to) } == "APPROVAL")
            }
            _ = try await bench.context.cancelAuthorization(second, for: alice)
            try await bench.request(bob, "test/alice")
        }
    }

    @Test("expire after 14 days without an answer, and are gone for whoever answers then")
    func expiry() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            bench.clock.advance(14 * Self.day - 1)
            #expect(try await bench.countOpen(bob) == 1)
            bench.clock.advance(1)
            #expect(try await bench.countOpen(bob) == 0)
            #expect(try await bench.context.readAuthorization(id, to: bob).authorization.state == .expired)
            for act in [bench.context.approveAuthorization, bench.context.rejectAuthorization] {
                await #expect(throws: Refusal(.gone, "")) { try await act(id, bob) }
            }
            await #expect(throws: Refusal(.gone, "")) { try await bench.context.cancelAuthorization(id, for: alice) }
            #expect(try await bench.request(alice, bob.userID.description, id: id) == id)
            let other = try await bench.request(alice, "test/nobody")
            bench.clock.advance(14 * Self.day)
            try await bench.housekeeping()
            for id in [id, other] {
                #expect(try await bench.rows(id).map(\.type) == [.request, .expired])
            }
            #expect(try await bench.list(alice, nil, "EXPIRED").count == 2)
        }
    }
}
