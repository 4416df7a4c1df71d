import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import Repositories

/// What runs under `READ COMMITTED` beside sign-ins, in each order that two transactions can have. A held transaction makes
/// the order, not the time.
@Suite("Sweeps beside sign-ins on a server")
struct EndBesideSignInTests {
    private static func state(_ id: SessionID, in store: any Database) async throws -> String? {
        try await store.read {
            try $0.first("SELECT state FROM sessions WHERE id = $1", [.text("\(id)")])?.text(0)
        }
    }

    /// The first cut that somebody may work on, taken as a node does.
    private static func take(_ fixture: ServiceFixture) async throws -> BulkRevocation {
        try #require(try await fixture.store.maintain { try BulkRevocationRepository($0).take(by: "a node", for: 1) })
    }

    /// Ends rows of a cut, and stands before the commit.
    private static func sweep(
        _ cut: BulkRevocation, _ fixture: ServiceFixture, held: HeldTransaction? = nil
    ) async throws -> [EndedSession] {
        try await fixture.store.maintain { transaction in
            let ended = try SessionRepository(transaction).end(cut, limit: EndRevokedSessions.batch)
            held?.stand()
            return ended
        }
    }

    @Test("A sign-in that comes while rows are being ended keeps its session, and every row of before ends once")
    func during() async throws {
        try await ServiceFixture.run(on: .postgresql) { fixture in
            let connection = try await fixture.connectNewDevice()
            let old = try await fixture.opened("alice", on: connection).session
            try await BulkRevocationTests.plant(4, like: old, in: fixture.store)
            _ = try await fixture.admin.disableProvider("test")
            try await fixture.admin.enableProvider("test")
            try await fixture.watch.poll()
            let (cut, held) = (try await Self.take(fixture), HeldTransaction())
            async let first = Self.sweep(cut, fixture, held: held)
            await held.stands()
            let new = try await fixture.opened("alice", on: connection).session
            // One of a sign-in that had looked before the cut, and commits while the sweep stands.
            try await BulkRevocationTests.plant(1, like: new, in: fixture.store)
            held.end()
            #expect(try await first.count == 5)
            #expect(try await Self.state(new.id, in: fixture.store) == "authenticated")
            #expect(try await BulkRevocationTests.openRows(fixture.store) == 2)
            #expect(try await Self.sweep(cut, fixture).count == 1)
            #expect(try await Self.sweep(cut, fixture).isEmpty)
            #expect(try await Self.state(new.id, in: fixture.store) == "authenticated")
        }
    }

    @Test(
        "A row that a sign-in has written and not committed is passed over, over with its commit, and ended by the next"
    )
    func uncommitted() async throws {
        try await ServiceFixture.run(on: .postgresql) { fixture in
            let connection = try await fixture.connectNewDevice()
            let old = try await fixture.opened("alice", on: connection).session
            let held = HeldTransaction()
            let late = Session(
                id: SessionID(UUID()), tokenHash: .of("late"), userID: old.userID, providerID: old.providerID,
                externalID: old.externalID, applicationID: old.applicationID, deviceID: old.deviceID,
                thumbprint: old.thumbprint, providerKeyID: old.providerKeyID, state: .authenticated,
                createdAt: old.createdAt, renewedAt: old.renewedAt, lastUsedAt: old.lastUsedAt, challengedAt: nil)
            async let signIn: Void = fixture.store.maintain { transaction in
                try SessionRepository(transaction).insert(late, at: .first)
                held.stand()
            }
            await held.stands()
            _ = try await fixture.admin.disableProvider("test")
            let cut = try await Self.take(fixture)
            #expect(try await Self.sweep(cut, fixture).map(\.id) == [old.id])
            held.end()
            try await signIn
            let holder = try await fixture.store.read { try HolderRepository($0).holder(of: late) }
            #expect(holder?.session.state == .unauthenticated)
            #expect(try await Self.sweep(cut, fixture).map(\.id) == [late.id])
        }
    }

    @Test("A purge that finds a row which is renewed at that moment leaves it, and takes it when its time has come")
    func purge() async throws {
        try await ServiceFixture.run(on: .postgresql) { fixture in
            let session = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            let (end, store) = (session.renewedAt.addingTimeInterval(1), fixture.store)
            var renewed = session
            (renewed.tokenHash, renewed.renewedAt) = (.of("renewed"), session.renewedAt.addingTimeInterval(60))
            let (held, later) = (HeldTransaction(), renewed)
            async let renewal = store.write { transaction in
                let isRenewed = try SessionRepository(transaction).renew(later, replacing: session.tokenHash, at: 0)
                held.stand()
                return isRenewed
            }
            await held.stands()
            @Sendable func purge(before moment: Date) async throws -> Int {
                try await store.maintain { try SessionRepository($0).purgeExpired(before: moment).rows }
            }
            // It found the row by its age of before, and stands behind the renewal until that commits or it gives up.
            async let first = try? purge(before: end)
            for _ in 0..<1000 {
                let isWaiting = try await store.read {
                    try $0.first(
                        """
                        SELECT 1 FROM pg_stat_activity
                        WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM sessions %'
                        """)
                }
                if isWaiting != nil { break }
                try await Task.sleep(for: .milliseconds(1))
            }
            held.end()
            #expect(try await renewal)
            #expect(await first ?? 0 == 0)
            #expect(try await purge(before: end) == 0)
            #expect(try await Self.state(session.id, in: store) == "authenticated")
            #expect(try await purge(before: later.renewedAt.addingTimeInterval(1)) == 1)
        }
    }
}
