import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("A session that one statement opens")
struct SessionOpeningTests {
    private static func draft(_ nonce: Nonce, _ tables: TestTables, externalID: String = "ada") -> Session {
        let draft = tables.session(1)
        return Session(
            id: nonce.sessionID, tokenHash: .of("\(nonce.sessionID)"), userID: UserID(UUID()),
            providerID: draft.providerID, externalID: externalID, applicationID: draft.applicationID,
            deviceID: draft.deviceID, thumbprint: draft.thumbprint, providerKeyID: draft.providerKeyID,
            state: .authenticated, createdAt: .distantPast, renewedAt: .distantPast, lastUsedAt: .distantPast,
            challengedAt: nil)
    }

    private static func opening(
        _ tables: TestTables, number: UInt8 = 1, seconds: TimeInterval = 60, externalID: String = "ada",
        mostSessions: Int = 8
    ) throws -> SessionOpening {
        let nonce = try tables.nonce(number, seconds: seconds)
        return SessionOpening(
            draft(nonce, tables, externalID: externalID), spending: nonce, mostSessions: mostSessions)
    }

    @Test("is the user's, in the present generations, and is not opened again", arguments: StoreKind.shared)
    func opened(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                let gates = GateRepository(transaction)
                try gates.raise(.user(tables.user))
                for _ in 0..<2 { try gates.raise(.device(tables.device)) }
                for _ in 0..<3 { try gates.raise(.provider(tables.provider)) }
                for _ in 0..<4 { try gates.raise(.providerKey(tables.providerKey)) }
            }
            let opening = try Self.opening(tables)
            let first = try #require(try await tables.write { try opening(in: $0) })
            #expect(first.user == tables.person(tables.user, "ada"))
            #expect(first.session.userID == tables.user && first.session.createdAt == TestTables.now)
            #expect(try await tables.read { try SessionRepository($0).find(first.session.id) } == first.session)
            #expect(try await opening(in: tables.store) == nil)
            let second = try #require(try await Self.opening(tables, number: 2)(in: tables.store))
            #expect(try await tables.read { try SessionRepository($0).find(second.session.id) } == second.session)
            for gate in [
                SessionGate.user(tables.user), .device(tables.device), .provider(tables.provider),
                .providerKey(tables.providerKey),
            ] {
                #expect(try await tables.read { try SessionRepository($0).countOpen(gate, limit: 9) } == 2)
            }
        }
    }

    /// What stands against it, or is to be looked at closer.
    static let obstacles = [
        "UPDATE provider_keys SET retired_at = 1", "UPDATE provider_keys SET revoked_at = 1",
        "UPDATE providers SET disabled_at = 1", "UPDATE users SET held = 1", "UPDATE devices SET held = 1",
        "UPDATE certificates SET revoked_at = 1, revocation_reason = 'superseded'",
        "UPDATE certificates SET not_after = 1800000000000", "UPDATE users SET external_id = 'eve'",
        "UPDATE generations SET value = 'another' WHERE name = 'nonces'", "DELETE FROM certificates",
    ]

    @Test("is left to a transaction by each obstacle", arguments: StoreKind.shared, obstacles)
    func refused(kind: StoreKind, obstacle: String) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.sql(obstacle)
            let opening = try Self.opening(tables)
            #expect(try await tables.write { try opening(in: $0) } == nil)
            #expect(try await opening(in: tables.store) == nil)
            #expect(try await tables.count("sessions") == 0)
        }
    }

    @Test(
        "is left to a transaction if the nonce is over or lives too long, was spent, or is the ninth on the device",
        arguments: StoreKind.shared)
    func spentOrFull(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            #expect(try await Self.opening(tables, seconds: 0)(in: tables.store) == nil)
            let tooLong = NoncePolicy.longestRemainder + 1
            #expect(try await Self.opening(tables, seconds: tooLong)(in: tables.store) == nil)
            let former = try tables.nonce(1)
            try await tables.sql(
                "INSERT INTO former_nonces (expires_at, nonce) VALUES ($1, $2)",
                [.integer(former.expiresAt.milliseconds), .bytes(former.randomBytes)])
            #expect(try await Self.opening(tables)(in: tables.store) == nil)
            let renewal = try tables.nonce(2)
            let holder = tables.session(9)
            try await tables.write { try NonceRepository($0).spend(renewal, of: holder) }
            #expect(try await Self.opening(tables, number: 2)(in: tables.store) == nil)
            let open = (10..<13).map { tables.session($0) }
            try await tables.write { transaction in
                for session in open { try SessionRepository(transaction).insert(session, at: .first) }
                try SessionRepository(transaction).end(.session(open[0].id), at: TestTables.now, .byUser)
            }
            #expect(try await Self.opening(tables, number: 3, mostSessions: 2)(in: tables.store) == nil)
            #expect(try await Self.opening(tables, number: 3, mostSessions: 3)(in: tables.store) != nil)
        }
    }

    @Test("An open session is confirmed by the digest of its token alone", arguments: StoreKind.shared)
    func confirmed(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = tables.session(1)
            let found = try await tables.write { transaction in
                let sessions = SessionRepository(transaction)
                try sessions.insert(session, at: .first)
                return try (
                    sessions.confirm(session.id, tokenHash: session.tokenHash),
                    sessions.confirm(session.id, tokenHash: .of("another"))
                )
            }
            #expect(found.0 == session && found.1 == nil)
        }
    }
}
