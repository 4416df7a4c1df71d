import Database
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Pushes about authorizations")
struct AuthorizationPushTests {
    private static func sentMarks(_ bench: AuthorizationBench, _ id: String) async throws -> [Bool?] {
        try await bench.rows(id).map(\.isSent)
    }

    @Test("tell the asked person of the request and the requester of the answer, once each, and mark the rows")
    func marks() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            #expect(try await Self.sentMarks(bench, id) == [false])
            #expect(try await bench.deliver() == nil)
            #expect(try await Self.sentMarks(bench, id) == [true])
            #expect(bench.pushes.endpoints == ["bob"])
            let request = try bench.pushes.data()
            #expect(request["authorization_id"]?.text == id)
            #expect(request["type"]?.text == "REQUEST")
            #expect(request["initials"]?.text == "MS")
            #expect(request["age"]?.text == "40")
            #expect(request["picture_url"]?.text == "https://pictures.example/alice.png")
            #expect((request["verified"]?.text, request["assurance"]?.text) == ("true", "barcode"))
            _ = try await bench.context.approveAuthorization(id, for: bob)
            #expect(try await Self.sentMarks(bench, id) == [true, false])
            for _ in 0..<2 { _ = try await bench.deliver() }
            #expect(try await Self.sentMarks(bench, id) == [true, true])
            #expect(bench.pushes.endpoints == ["bob", "alice"])
            let approval = try bench.pushes.data()
            #expect((approval["authorization_id"]?.text, approval["type"]?.text) == (id, "APPROVAL"))
            #expect(approval["picture_url"]?.text == "https://pictures.example/bob.png")
            #expect(approval["user_id"]?.text == bob.userID.description && approval["address"]?.text == "test/bob")
            #expect(approval["display_name"]?.text == "Person bob" && approval["initials"]?.text == "MS")
            for (_, payload, _) in bench.pushes.sent {
                for secret in AuthorizationBench.secrets { #expect(!payload.contains(secret)) }
                for identity in [alice.userID.description, "test/alice", "Person alice"] {
                    #expect(!payload.contains(identity))
                }
            }
            let asked = try #require(bench.pushes.sent.first?.payload)
            for identity in [bob.userID.description, "test/bob", "Person bob"] { #expect(!asked.contains(identity)) }
        }
    }

    @Test("tell the requester of a rejection and nothing of who declined")
    func rejection() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            _ = try await bench.context.rejectAuthorization(id, for: bob)
            _ = try await bench.deliver()
            #expect(bench.pushes.endpoints == ["alice"])
            let data = try bench.pushes.data()
            #expect((data["authorization_id"]?.text, data["type"]?.text) == (id, "REJECTED"))
            for name in ["initials", "age", "picture_url", "verified", "assurance"] { #expect(data[name] == nil) }
            #expect(try await Self.sentMarks(bench, id) == [false, true])
        }
    }

    @Test("go to nobody without an endpoint, and out as soon as there is one")
    func withoutEndpoint() async throws {
        try await AuthorizationBench.run { bench in
            let alice = try await bench.person("alice")
            let bob = try await bench.person("bob", hasEndpoint: false)
            let id = try await bench.request(alice, bob)
            let second = try await bench.request(try await bench.person("carol"), bob)
            #expect(try await bench.deliver() == nil)
            _ = try await bench.context.cancelAuthorization(second, for: try await bench.person("carol"))
            try await bench.register(AuthorizationBench.endpoint("new"), by: bob)
            _ = try await bench.deliver()
            #expect(bench.pushes.endpoints == ["new"])
            #expect(try await Self.sentMarks(bench, id) == [true])
            #expect(try await Self.sentMarks(bench, second) == [false, nil])
            try await bench.register(AuthorizationBench.endpoint("newer"), by: bob)
            _ = try await bench.deliver()
            #expect(bench.pushes.sent.count == 1)
        }
    }

    @Test("drop an endpoint that is gone from the user's row, and tell again when there is another")
    func endpointGone() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            bench.pushes.answer(.endpointGone)
            #expect(try await bench.deliver() == nil)
            #expect(try await bench.context.readProfile(bob).endpoints?.usual == nil)
            #expect(try await bench.context.readProfile(alice).endpoints?.usual != nil)
            #expect(try await Self.sentMarks(bench, id) == [false])
            #expect(try await bench.store.read { try OutboxRepository($0).list(.expired, limit: 9) }.count == 1)
            bench.pushes.answer(.sent(reference: "1"))
            try await bench.register(AuthorizationBench.endpoint("new"), by: bob)
            _ = try await bench.deliver()
            #expect(bench.pushes.endpoints == ["bob", "new"])
            #expect(try await Self.sentMarks(bench, id) == [true])
        }
    }

    @Test("keep an endpoint that was registered while the old one turned out to be gone")
    func endpointReplaced() async throws {
        try await AuthorizationBench.run { bench in
            let bob = try await bench.person("bob")
            let keys = bench.keys
            try await bench.register(AuthorizationBench.endpoint("new"), by: bob)
            let dropped = try await bench.store.write { transaction in
                try PushEndpointRepository(transaction, keys: keys).drop(
                    AuthorizationBench.endpoint("bob"), of: bob.userID, on: bob.deviceID)
            }
            #expect(!dropped)
            #expect(try await bench.context.readProfile(bob).endpoints?.usual == AuthorizationBench.endpoint("new"))
        }
    }

    @Test("say nothing that is no longer so: taken back, blocked, withdrawn by a ban, expired, no longer verified")
    func overtaken() async throws {
        try await AuthorizationBench.run { bench in
            let bob = try await bench.person("bob")
            let ends: [(String, (Session, String) async throws -> Void)] = [
                ("cancelled", { _ = try await bench.context.cancelAuthorization($1, for: $0) }),
                (
                    "blocked",
                    { requester, _ in try await bench.context.blockUser(requester.userID.description, for: bob) }
                ),
                ("banned", { requester, _ in try await bench.ban(requester) }),
                ("unverified", { requester, _ in try await bench.setLevel(.phone, of: requester) }),
                ("erased", { requester, _ in _ = try await bench.context.erasePersonalData(for: requester) }),
                ("expired", { _, _ in bench.clock.advance(14 * 86_400) }),
            ]
            for (name, end) in ends {
                let requester = try await bench.person(name)
                let id = try await bench.request(requester, bob)
                try await end(requester, id)
                _ = try await bench.deliver()
                #expect(bench.pushes.sent.isEmpty, "\(name)")
            }
        }
    }

    @Test("are tried every 30 seconds for a day while the carrier is away")
    func carrierAway() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            bench.pushes.answer(.unavailable(reason: "down"))
            for wait in [2.0, 6, 18, 30, 30, 30] {
                #expect(try await bench.deliver() == bench.clock.now + wait)
                bench.clock.advance(wait)
            }
            bench.pushes.answer(.sent(reference: "1"))
            #expect(try await bench.deliver() == nil)
            #expect(bench.pushes.sent.count == 7)
            #expect(try await Self.sentMarks(bench, id) == [true])
        }
    }

    @Test("take no place of the texts that somebody waits for")
    func behindTexts() async throws {
        try await AuthorizationBench.run { bench in
            let bob = try await bench.person("bob")
            for index in 0..<10 { try await bench.request(try await bench.person("requester \(index)"), bob) }
            let (user, owner, now) = (bob.userID, OutboxOwner(bob.providerID), bench.clock.now)
            let leased = try await bench.store.write { transaction in
                let records = OutboxRepository(transaction)
                _ = try records.insert(
                    OutboxMessage(
                        id: OutboxMessageID(UUID()), kind: .phoneCode, owner: owner, subject: "text", userID: user,
                        deduplicationKey: "text", payload: [], createdAt: now, expiresAt: now + 300, dueAt: now))
                return try OutboxClaims(transaction).lease("test", [.phoneCode: 1, .authorization: 8], for: 30)
            }
            #expect(leased.count == 9)
            #expect(leased.filter { $0.kind == .phoneCode }.count == 1)
        }
    }
}
