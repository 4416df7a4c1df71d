import Authority
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// A store that is copied, or restored, between a cut and the end of its sessions' rows.
@Suite("Cuts that nobody has swept yet")
struct MovedRevocationTests {
    /// What ends many sessions.
    enum Cut: CaseIterable, Sendable {
        case provider, providerKey, logOut, ban, device

        func make(_ session: Session, in fixture: ServiceFixture) async throws {
            switch self {
            case .provider: _ = try await fixture.admin.disableProvider("test")
            case .providerKey:
                try await fixture.admin.revokeProviderKey(session.providerKeyID, endingSessions: true)
            case .logOut:
                try await fixture.context.endUserSessions(of: session.externalID, at: try await fixture.backend())
            case .ban: try await BanBench(fixture).ban(.user("test/\(session.externalID)"))
            case .device: _ = try await fixture.admin.revokeDevice(session.deviceID, reason: .unspecified)
            }
        }
    }

    private static let sessions = 151

    /// A service whose user has many sessions, one of them with a token that is known.
    private static func withSessions(
        on kind: StoreKind, _ body: (ServiceFixture, Session, String) async throws -> Void
    ) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            try await BulkRevocationTests.receive(fixture)
            let opened = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            try await BulkRevocationTests.plant(sessions - 1, like: opened.session, in: fixture.store)
            try await body(fixture, opened.session, try #require(opened.token).text.reveal())
        }
    }

    /// Copies the store away, and hands over a service on the copy.
    private static func move(
        _ fixture: ServiceFixture, to kind: StoreKind, _ body: (ServiceFixture) async throws -> Void
    ) async throws {
        let clock = fixture.clock
        let now: @Sendable () -> Date = { clock.now }
        try await CopyStoreTests.withTarget(kind, clock: now) { target in
            let copy = CopyStoreTests.copier(fixture.store, target, Schema.migrations)
            #expect(try await copy(isFinal: true).isFinished)
            try await target.migrate(Schema.migrations)
            try await body(try await fixture.moved(to: target))
        }
    }

    /// The sessions whose rows say that they are open.
    private static func openRows(_ store: any Database) async throws -> [SessionID] {
        try await store.read {
            try $0.query("SELECT id FROM sessions WHERE state <> 'unauthenticated'").compactMap {
                SessionID(try $0.text(0)[...])
            }
        }
    }

    private static func expectOver(_ ids: [SessionID], _ token: String, in fixture: ServiceFixture) async throws {
        let (states, open) = try await fixture.store.read { transaction in
            let sessions = SessionRepository(transaction)
            return (Set(try ids.map { try sessions.find($0)?.state }), try sessions.listOpen(limit: 9).count)
        }
        #expect(states == [.unauthenticated] && open == 0)
        let connection = try await fixture.connectNewDevice()
        await #expect(throws: Refusal(.sessionDestroyed, "")) {
            _ = try await fixture.context.checkSession(token, on: connection)
        }
    }

    @Test(
        "hold in a copy of the store, and are swept there, each session told once",
        arguments: Soak.isOn ? CopyStoreTests.ways : [(.sqlite, .postgresql)], Cut.allCases)
    func copied(way: (StoreKind, StoreKind), cut: Cut) async throws {
        try await Self.withSessions(on: way.0) { fixture, session, token in
            try await cut.make(session, in: fixture)
            let open = try await Self.openRows(fixture.store)
            #expect(!open.isEmpty)
            try await Self.move(fixture, to: way.1) { moved in
                #expect(Set(try await Self.openRows(moved.store)) == Set(open))
                try await Self.expectOver(open, token, in: moved)
                #expect(try await BulkRevocationTests.sweeper(moved)() == open.count)
                #expect(try await Self.openRows(moved.store).isEmpty)
                let told = try await BulkRevocationTests.told(moved.store)
                #expect(told.count == Self.sessions && Set(told).count == Self.sessions)
            }
        }
    }

    @Test(
        "are over in a restored store, with nothing left to sweep",
        arguments: Soak.isOn
            ? [(StoreKind.sqlite, StoreKind.sqlite), (.postgresql, .postgresql)] : [(.postgresql, .postgresql)],
        Cut.allCases)
    func restored(way: (StoreKind, StoreKind), cut: Cut) async throws {
        try await Self.withSessions(on: way.0) { fixture, session, token in
            try await cut.make(session, in: fixture)
            let open = try await Self.openRows(fixture.store)
            #expect(!open.isEmpty)
            try await Self.move(fixture, to: way.1) { copy in
                let report = try await Self.restore(copy.store, in: copy)(reason: nil)
                #expect(report.sessionsEnded == open.count)
                let moved = try await copy.moved()
                #expect(try await Self.openRows(moved.store).isEmpty)
                try await Self.expectOver(open, token, in: moved)
                #expect(try await BulkRevocationTests.sweeper(moved)() == 0)
                #expect(try await BulkRevocationTests.told(moved.store).isEmpty)
            }
        }
    }

    @Test("are over in a backup of before them that takes the store's place", arguments: Cut.allCases)
    func restoredFromBefore(cut: Cut) async throws {
        try await Self.withSessions(on: .sqlite) { fixture, session, token in
            try await withTemporaryDirectory { directory in
                let path = try #require(
                    try await fixture.store.read {
                        try $0.first("SELECT file FROM pragma_database_list WHERE name = 'main'")?.text(0)
                    })
                let backup = directory.appending(path: "backup.db").path
                try SQLiteMaintenance(path: path).backup(to: backup)
                try await cut.make(session, in: fixture)
                let open = try await Self.openRows(fixture.store)
                #expect(!open.isEmpty)
                let clock = fixture.clock
                let restored = try SQLiteDatabase(path: backup, clock: { clock.now })
                let report = try await Self.restore(restored, replacing: fixture.store, in: fixture)(reason: nil)
                #expect(report.sessionsEnded == Self.sessions)
                let moved = try await fixture.moved(to: restored)
                try await Self.expectOver(open, token, in: moved)
                #expect(try await BulkRevocationTests.sweeper(moved)() == 0)
                try await restored.close()
            }
        }
    }

    private static func restore(
        _ store: any Database, replacing replaced: (any Database)? = nil, in fixture: ServiceFixture
    ) -> RestoreStore {
        let clock = fixture.clock
        return RestoreStore(
            restored: store, replaced: replaced, keys: fixture.personalKeys,
            environment: Environment(now: { clock.now }), actor: "admin test")
    }
}
