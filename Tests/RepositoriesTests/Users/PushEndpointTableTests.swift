import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table push_endpoints")
struct PushEndpointTableTests {
    private func endpoints(_ usual: String?, calls: String? = nil) throws -> PushEndpoints {
        try #require(PushEndpoints(usual: usual, calls: calls))
    }

    /// Opens a session on each of some new devices, and registers an endpoint there.
    private func register(_ tables: TestTables, _ arns: [String], limit: Int = 8) async throws -> [Session] {
        var sessions: [Session] = []
        for (number, arn) in arns.enumerated() {
            let device = try await tables.newDevice()
            let session = tables.session(number, on: device)
            let endpoints = try endpoints(arn, calls: arn + "/calls")
            try await tables.write { transaction in
                try SessionRepository(transaction).insert(session, at: .first)
                try PushEndpointRepository(transaction, keys: tables.keys).register(
                    endpoints, by: session, limit: limit, sessionsExpiredBefore: .distantPast)
            }
            sessions.append(session)
        }
        return sessions
    }

    private func usual(_ tables: TestTables) async throws -> Set<String?> {
        let found = try await tables.read {
            try PushEndpointRepository($0, keys: tables.keys).list(of: tables.user)
        }
        return Set(found.map(\.endpoints.usual))
    }

    @Test("Each device of a user has its own endpoints, sealed in its own row", arguments: StoreKind.shared)
    func rows(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = try await register(tables, ["arn:1", "arn:2"])
            let (one, two) = (sessions[0].deviceID, sessions[1].deviceID)
            let found = try await tables.read { transaction in
                let records = PushEndpointRepository(transaction, keys: tables.keys)
                return try (records.find(tables.user, on: one), Set(records.devices(of: tables.user)))
            }
            #expect(try found.0 == endpoints("arn:1", calls: "arn:1/calls") && found.1 == [one, two])
            #expect(try await usual(tables) == ["arn:1", "arn:2"])
            let stored = try await tables.store.read { transaction in
                try transaction.query("SELECT * FROM push_endpoints").flatMap(\.values)
            }
            for value in stored {
                guard case .bytes(let bytes) = value else { continue }
                #expect(Data(bytes).firstRange(of: Data("arn:".utf8)) == nil)
            }
            try await tables.sql(
                """
                UPDATE push_endpoints SET sealed_endpoint =
                    (SELECT o.sealed_endpoint FROM push_endpoints o WHERE o.device_id = $1) WHERE device_id = $2
                """, [.id(one), .id(two)])
            await #expect(throws: SealingFailure.notAuthentic) { try await usual(tables) }
            try await tables.write { try PushEndpointRepository($0, keys: tables.keys).erase(tables.user) }
            #expect(try await tables.count("push_endpoints") == 0)
        }
    }

    @Test(
        "The oldest endpoint goes beyond the limit, and an app that is installed again takes its own",
        arguments: StoreKind.shared)
    func limits(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = try await register(tables, ["arn:1", "arn:2", "arn:3"])
            for (age, session) in zip([3000, 2000, 1000], sessions) {
                try await tables.sql(
                    "UPDATE push_endpoints SET registered_at = registered_at - $2 WHERE device_id = $1",
                    [.id(session.deviceID), .integer(Int64(age))])
            }
            _ = try await register(tables, ["arn:4"], limit: 3)
            #expect(try await usual(tables) == ["arn:2", "arn:3", "arn:4"])
            _ = try await register(tables, ["arn:2"], limit: 3)
            #expect(try await usual(tables) == ["arn:2", "arn:3", "arn:4"])
            #expect(try await tables.count("push_endpoints") == 3)
        }
    }

    @Test(
        "A device for calls only has no other pushes, and a deleted endpoint leaves the other",
        arguments: StoreKind.shared)
    func dropped(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let device = try await register(tables, ["arn:1"])[0].deviceID
            let drops = try await tables.write { transaction in
                let records = PushEndpointRepository(transaction, keys: tables.keys)
                let drops = try ["arn:2", "arn:1"].map { try records.drop($0, of: tables.user, on: device) }
                return (drops, try records.devices(of: tables.user), try records.devices(of: tables.user, for: .call))
            }
            #expect(drops.0 == [false, true] && drops.1.isEmpty && drops.2 == [device])
            let calls = try await tables.write { transaction in
                try PushEndpointRepository(transaction, keys: tables.keys).drop(
                    "arn:1/calls", of: tables.user, on: device)
            }
            #expect(calls)
            #expect(try await tables.count("push_endpoints") == 0)
        }
    }

    private static let silences: [(String, @Sendable (TestTables, Session) -> RevocationScope)] = [
        ("the user's sessions", { .user($1.userID) }), ("the device's", { .device($1.deviceID) }),
        ("the provider's", { .provider($1.providerID) }), ("those of a key", { .providerKey($1.providerKeyID) }),
    ]

    @Test("A bulk revocation silences the endpoints that its sessions registered", arguments: StoreKind.shared)
    func revoked(kind: StoreKind) async throws {
        for (name, scope) in Self.silences {
            try await TestTables.run(kind) { tables in
                let session = try await register(tables, ["arn:1"])[0]
                try await tables.write { try GenerationRepository($0).raise(scope(tables, session)) }
                #expect(try await usual(tables).isEmpty, "\(name)")
                _ = try await register(tables, ["arn:2"])
                // The next registration deletes what is silent, if its own session is not.
                #expect(try await tables.count("push_endpoints") == 1, "\(name)")
            }
        }
    }

    @Test("A log-out deletes the endpoint of its device, and a newer session keeps it", arguments: StoreKind.shared)
    func ended(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = try await register(tables, ["arn:1", "arn:2", "arn:3"])
            try await tables.write { transaction in
                let records = SessionRepository(transaction)
                try records.end(.session(sessions[0].id), at: TestTables.now, .byUser)
                try records.end(.session(sessions[1].id), at: TestTables.now, .superseded)
            }
            #expect(try await usual(tables) == ["arn:2", "arn:3"])
        }
    }

    @Test(
        "A log-out keeps the endpoint that another session of the device has registered too",
        arguments: StoreKind.shared)
    func registeredTwice(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let first = try await register(tables, ["arn:1"])[0]
            let second = tables.session(7, on: first.deviceID)
            try await tables.write { transaction in
                let records = SessionRepository(transaction)
                try records.insert(second, at: .first)
                try records.noteEndpoint(of: second.id)
                try records.end(.session(first.id), at: TestTables.now, .byUser)
            }
            #expect(try await usual(tables) == ["arn:1"])
            try await tables.write {
                try SessionRepository($0).end(.session(second.id), at: TestTables.now, .byUser)
            }
            #expect(try await usual(tables).isEmpty)
        }
    }

    @Test("A device that passes to another user loses the endpoint of the former one", arguments: StoreKind.shared)
    func passedOn(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let former = try await register(tables, ["arn:1"])[0]
            let present = tables.session(7, of: try await tables.newUser("eve"), on: former.deviceID)
            let arn = try endpoints("arn:2")
            for (expired, left) in [(-1.0, ["arn:1"]), (1.0, [])] {
                try await tables.write { transaction in
                    if expired < 0 { try SessionRepository(transaction).insert(present, at: .first) }
                    try PushEndpointRepository(transaction, keys: tables.keys).register(
                        arn, by: present, limit: 8, sessionsExpiredBefore: TestTables.now.addingTimeInterval(expired))
                }
                #expect(try await usual(tables) == Set(left))
            }
        }
    }

    @Test("An endpoint that no app registers again goes with time, all with a restore", arguments: StoreKind.shared)
    func purged(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            _ = try await register(tables, ["arn:1"])
            let rows = try await tables.write { transaction in
                try [TestTables.now, TestTables.now.addingTimeInterval(1)].map {
                    try PushEndpointRepository.purge(registeredBefore: $0, in: transaction).rows
                }
            }
            #expect(rows == [0, 1])
            _ = try await register(tables, ["arn:2"])
            try await tables.write { try RestoreRepository($0).deletePushEndpoints() }
            #expect(try await tables.count("push_endpoints") == 0)
        }
    }
}
