import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("A session that one statement opens")
struct SessionOpeningTests {
    private static func draft(
        _ nonce: Nonce, _ tables: TestTables, externalID: String = "ada", token: String? = nil
    ) -> Session {
        let draft = tables.session(1)
        return Session(
            id: nonce.sessionID, tokenHash: .of(token ?? "\(nonce.sessionID)"), userID: UserID(UUID()),
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
                let gates = GenerationRepository(transaction)
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
            for scope in [
                RevocationScope.user(tables.user), .device(tables.device), .provider(tables.provider),
                .providerKey(tables.providerKey),
            ] {
                #expect(try await tables.read { try SessionRepository($0).countOpen(scope, limit: 9) } == 2)
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

    /// What becomes of openings that come at once.
    private static func opened(
        _ openings: [SessionOpening], in store: any Database
    ) async throws -> [SessionOpening.Opened?] {
        try await withThrowingTaskGroup(of: (Int, SessionOpening.Opened?).self) { tasks in
            for (index, opening) in openings.enumerated() {
                tasks.addTask { (index, try await opening(in: store)) }
            }
            var all = [SessionOpening.Opened?](repeating: nil, count: openings.count)
            for try await (index, opened) in tasks { all[index] = opened }
            return all
        }
    }

    @Test("is opened beside 200 others for its own user, and for nobody who is held", arguments: StoreKind.shared)
    func together(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var users: [UserID] = []
            for index in 0..<40 { users.append(try await tables.newUser("user-\(index)")) }
            let held = users[7]
            try await tables.sql("UPDATE users SET held = 1 WHERE id = $1", [.text(held.description)])
            let openings = try (0..<200).map { index in
                try Self.opening(tables, number: UInt8(index), externalID: "user-\(index % 40)")
            }
            let all = try await Self.opened(openings, in: tables.store)
            for (index, opened) in all.enumerated() {
                let user = users[index % 40]
                #expect((opened == nil) == (user == held))
                guard let opened else { continue }
                #expect(opened.user == tables.person(user, "user-\(index % 40)"))
                #expect(opened.session.tokenHash == .of("\(opened.session.id)"))
                #expect(try await tables.read { try SessionRepository($0).find(opened.session.id) } == opened.session)
            }
            #expect(try await tables.count("sessions") == 195)
        }
    }

    @Test("is one of eight on a device, if 40 come at once", arguments: StoreKind.shared)
    func eight(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let openings = try (0..<40).map { try Self.opening(tables, number: UInt8($0)) }
            let count = try await Self.opened(openings, in: tables.store).compactMap(\.self).count
            // Two transactions of a node do not see one another's.
            #expect((8...16).contains(count))
            #expect(try await tables.count("sessions") == count)
            #expect(try await Self.opening(tables, number: 200)(in: tables.store) == nil)
        }
    }

    @Test(
        "goes to one of those that spend the nonce at once, whose token then is the row's", arguments: StoreKind.shared)
    func nonceAtOnce(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            for index in 0..<40 { _ = try await tables.newUser("user-\(index)") }
            let openings = try (0..<200).map { index in
                let nonce = try tables.nonce(UInt8(index % 40))
                let draft = Self.draft(nonce, tables, externalID: "user-\(index % 40)", token: "token-\(index)")
                return SessionOpening(draft, spending: nonce, mostSessions: 8)
            }
            let all = try await Self.opened(openings, in: tables.store).compactMap(\.self)
            #expect(Set(all.map(\.session.id)).count == 40 && all.count == 40)
            for opened in all {
                #expect(try await tables.read { try SessionRepository($0).find(opened.session.id) } == opened.session)
            }
        }
    }

    @Test("with a nonce that was spent does not wait for whoever changes the session's row")
    func spentBesideChange() async throws {
        try await TestTables.run(.postgresql) { tables in
            let opening = try Self.opening(tables)
            let session = try #require(try await opening(in: tables.store)).session
            let (isHeld, continuation) = AsyncStream<Void>.makeStream()
            let isAnswered = DispatchSemaphore(value: 0)
            async let changed = tables.write { transaction in
                _ = try transaction.execute(
                    "UPDATE sessions SET last_used_at = last_used_at + 1 WHERE id = $1", [.id(session.id)])
                continuation.finish()
                return isAnswered.wait(timeout: .now() + 120) == .success
            }
            for await _ in isHeld {}
            #expect(try await opening(in: tables.store) == nil)
            isAnswered.signal()
            #expect(try await changed)
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
