import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// What the service relies on, in a store that was moved.
@Suite("A store that was moved")
struct CopiedServiceTests {
    @Test("Sessions, spent nonces, bans and the audit chain hold in the copy", arguments: CopyStoreTests.ways)
    func holds(way: (StoreKind, StoreKind)) async throws {
        try await ServiceFixture.run(on: way.0) { fixture in
            let connection = try await fixture.connectNewDevice()
            let alice = try await fixture.opened("alice", on: connection)
            let mallory = try await fixture.opened("mallory", on: connection)
            let spent = fixture.context.issueNonce(connection).nonce
            _ = try await fixture.context.openSession(
                identityToken: try fixture.signer.identityToken(
                    provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: "alice",
                    nonce: spent, now: fixture.clock.now), applicationID: nil, on: connection)
            let bench = try BanBench(fixture)
            let ban = try await bench.ban(.user("test/mallory")).ban
            let clock = AuditTests.Clock()
            try await AuditTests.sealer(fixture.store, clock)(signingAll: true)
            let now: @Sendable () -> Date = { fixture.clock.now }
            try await CopyStoreTests.withTarget(way.1, clock: now) { target in
                let copy = CopyStoreTests.copier(fixture.store, target, Schema.migrations)
                #expect(try await copy(isFinal: true).isFinished)
                try await target.migrate(Schema.migrations)
                // The move itself is the last entry, and is chained where it arrived.
                try await AuditTests.sealer(target, clock)(signingAll: true)
                let report = try await AuditTests.verify(target)
                #expect(report.defect == nil && report.entries > 1 && report.signed == report.entries)
                let (sessions, nonces, bans, holds) = try await target.read { transaction in
                    (
                        try [alice, mallory].map { try SessionRepository(transaction).find($0.session.id)?.state },
                        try transaction.first("SELECT count(*) FROM sessions")?.integer(0),
                        try BanRepository(transaction).list(isActive: true, limit: 9).map(\.id),
                        try BanRepository(transaction).holdsInForce(on: mallory.session.userID).count
                    )
                }
                #expect(sessions == [.authenticated, .unauthenticated])
                #expect(nonces == 3 && bans == [ban.id] && holds == 1)
            }
        }
    }
}
