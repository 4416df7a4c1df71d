import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("A session that one statement ends")
struct SharedSessionEndTests {
    @Test("has ended once, and the log says so once", arguments: StoreKind.shared)
    func ended(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = tables.session(1)
            try await tables.write { try SessionRepository($0).insert(session, at: .first) }
            let start = try await tables.store.changePosition()
            let ended = try #require(try await SharedSessionEnd(session, .byUser)(in: tables.store))
            #expect(ended.id == session.id && ended.tokenHash == session.tokenHash && ended.userID == session.userID)
            #expect(try await SharedSessionEnd(session, .byUser)(in: tables.store) == nil)
            let found = try await tables.read { try SessionRepository($0).find(session.id) }
            #expect(found?.state == .unauthenticated)
            #expect(try await tables.count("sessions WHERE ended_at IS NOT NULL AND end_reason IS NOT NULL") == 1)
            let changes = try await tables.store.changes(after: start, limit: 10).changes
            #expect(changes.compactMap { ChangeLog.Change($0) } == [.session(session.tokenHash)])
        }
    }

    @Test("ends beside 200 others, each with its own entry in the log", arguments: StoreKind.shared)
    func together(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = (0..<200).map { tables.session($0) }
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
            }
            let start = try await tables.store.changePosition()
            let count = try await withThrowingTaskGroup(of: Bool.self) { group in
                // Each of them twice.
                for session in sessions + sessions {
                    group.addTask { try await SharedSessionEnd(session, .byUser)(in: tables.store) != nil }
                }
                return try await group.reduce(0) { $1 ? $0 + 1 : $0 }
            }
            #expect(count == 200)
            let changes = try await tables.store.changes(after: start, limit: 1000).changes
            #expect(changes.count == 200)
            #expect(Set(changes.compactMap { ChangeLog.Change($0) }) == Set(sessions.map { .session($0.tokenHash) }))
        }
    }

    private static let obstacles: [(String, @Sendable (TestTables, any Transaction) throws -> Void)] = [
        ("a webhook", { try ProviderWebhookRepository($1).set("https://app.example", of: $0.provider) }),
        ("an event stream", { try EventStreamRepository($1).save(EventStreamTableTests.stream($0.provider)) }),
        (
            "a push endpoint",
            { try $1.execute("UPDATE sessions SET has_endpoint = 1 WHERE user_id = $1", [.id($0.user)]) }
        ),
        (
            "a push endpoint of another session",
            {
                try $1.execute(
                    """
                    INSERT INTO push_endpoints (user_id, device_id, provider_id, provider_key_id, application_id,
                        sealed_endpoint, registered_at, user_generation, device_generation, provider_generation,
                        key_generation)
                    VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, 0)
                    """,
                    [
                        .id($0.user), .id($0.device), .id($0.provider), .id($0.providerKey), .id($0.application),
                        .bytes([1]),
                    ])
            }
        ),
        ("a cut", { try GenerationRepository($1).raise(.user($0.user)) }),
        (
            "a renewal",
            {
                try $1.execute(
                    "UPDATE sessions SET token_hash = $1 WHERE user_id = $2",
                    [.bytes([UInt8](repeating: 7, count: 32)), .text($0.user.description)])
            }
        ),
    ]

    @Test("is left to a transaction by each obstacle, and nothing is logged", arguments: StoreKind.shared)
    func obstacles(kind: StoreKind) async throws {
        for (name, prepare) in Self.obstacles {
            try await TestTables.run(kind) { tables in
                let session = tables.session(1)
                try await tables.write { transaction in
                    try SessionRepository(transaction).insert(session, at: .first)
                    try prepare(tables, transaction)
                }
                let start = try await tables.store.changePosition()
                #expect(try await SharedSessionEnd(session, .byUser)(in: tables.store) == nil, "\(name)")
                #expect(try await tables.store.changes(after: start, limit: 10).changes.isEmpty, "\(name)")
            }
        }
    }
}
