import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("A session that takes the place of the oldest one")
struct SessionReplacementTests {
    private static func opening(_ tables: TestTables, number: UInt8, mostSessions: Int = 2) throws -> SessionOpening {
        let (nonce, like) = (try tables.nonce(number), tables.session(1))
        let draft = Session(
            id: nonce.sessionID, tokenHash: .of("\(nonce.sessionID)"), userID: UserID(UUID()),
            providerID: like.providerID, externalID: "ada", applicationID: like.applicationID,
            deviceID: like.deviceID, thumbprint: like.thumbprint, providerKeyID: like.providerKeyID,
            state: .authenticated, createdAt: .distantPast, renewedAt: .distantPast, lastUsedAt: .distantPast,
            challengedAt: nil)
        return SessionOpening(draft, spending: nonce, mostSessions: mostSessions)
    }

    private static func open(_ tables: TestTables) async throws -> Set<SessionID> {
        Set(try await tables.read { try SessionRepository($0).listOpen(.user(tables.user)).map(\.id) })
    }

    /// Runs a body with as many sessions on a device as may be, the oldest first.
    private static func run(
        _ kind: StoreKind = .postgresql, _ body: (TestTables, _ old: [Session]) async throws -> Void
    ) async throws {
        try await TestTables.run(kind) { tables in
            var old: [Session] = []
            for number in UInt8(1)...2 {
                old.append(try #require(try await opening(tables, number: number)(in: tables.store)).session)
            }
            try await body(tables, old)
        }
    }

    @Test("is opened while that one ends, and all processes are told")
    func replaced() async throws {
        try await Self.run { tables, old in
            let position = try await tables.store.changePosition()
            let opening = try Self.opening(tables, number: 3)
            #expect(try await opening(in: tables.store) == nil)
            let new = try #require(try await SessionReplacement(opening, insteadOf: old[0])(in: tables.store))
            #expect(new.user == tables.person(tables.user, "ada") && new.session.userID == tables.user)
            #expect(try await tables.read { try SessionRepository($0).find(new.session.id) } == new.session)
            #expect(try await Self.open(tables) == [old[1].id, new.session.id])
            let row = try await tables.read { [id = old[0].id] in
                try $0.first("SELECT end_reason FROM sessions WHERE id = $1", [.id(id)])
            }
            #expect(try row?.text(0) == SessionEnding.superseded.text)
            let reading = try await tables.store.changes(after: position, limit: 9)
            #expect(reading.changes.map(\.key) == [old[0].tokenHash.bytes])
        }
    }

    @Test("ends nothing if its nonce was spent, if there are more, or if the provider is told of ends")
    func refused() async throws {
        try await Self.run { tables, old in
            let spent = try Self.opening(tables, number: 2)
            #expect(try await SessionReplacement(spent, insteadOf: old[0])(in: tables.store) == nil)
            let beyond = try Self.opening(tables, number: 3, mostSessions: 1)
            #expect(try await SessionReplacement(beyond, insteadOf: old[0])(in: tables.store) == nil)
            try await tables.write {
                try ProviderWebhookRepository($0).set("https://app.example", of: tables.provider)
            }
            let told = try Self.opening(tables, number: 3)
            #expect(try await SessionReplacement(told, insteadOf: old[0])(in: tables.store) == nil)
            #expect(try await Self.open(tables) == Set(old.map(\.id)))
        }
    }

    @Test("leaves a session that was renewed meanwhile")
    func renewed() async throws {
        try await Self.run { tables, old in
            try await tables.sql(
                "UPDATE sessions SET token_hash = $1 WHERE id = $2",
                [Digest256.of("renewed").value, .id(old[0].id)])
            let opening = try Self.opening(tables, number: 3)
            #expect(try await SessionReplacement(opening, insteadOf: old[0])(in: tables.store) != nil)
            #expect(try await Self.open(tables).count == 3)
        }
    }

    @Test("is opened beside others for as many users, without a transaction that is begun again")
    func together() async throws {
        try await Self.run { tables, old in
            let store = try #require(tables.store as? PostgreSQLDatabase)
            let before = store.repetitions
            let openings = try (3..<27).map { try Self.opening(tables, number: $0) }
            let opened = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for opening in openings {
                    tasks.addTask { try await SessionReplacement(opening, insteadOf: old[0])(in: store) != nil }
                }
                return try await tasks.reduce(into: 0) { if $1 { $0 += 1 } }
            }
            // Each counts the others that were committed before; two transactions of a node do not see one another's.
            #expect((1...2).contains(opened))
            #expect(store.repetitions == before)
        }
    }

    @Test("is left to a transaction where one writer is all there is")
    func sqlite() async throws {
        try await Self.run(.sqlite) { tables, old in
            let opening = try Self.opening(tables, number: 3)
            #expect(try await SessionReplacement(opening, insteadOf: old[0])(in: tables.store) == nil)
            #expect(try await Self.open(tables) == Set(old.map(\.id)))
        }
    }
}
