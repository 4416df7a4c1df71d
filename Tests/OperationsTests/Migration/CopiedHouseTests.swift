import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// What the service relies on, in a store that was moved.
@Suite("A store that was moved")
struct CopiedHouseTests {
    @Test("Sessions, spent nonces, bans and the audit chain hold in the copy", arguments: CopyStoreTests.ways)
    func holds(way: (StoreKind, StoreKind)) async throws {
        try await House.inhabit(on: way.0) { house in
            let connection = try await house.connectNewDevice()
            let alice = try await house.opened("alice", on: connection)
            let mallory = try await house.opened("mallory", on: connection)
            let spent = house.nonces(connection).nonce
            _ = try await house.open(
                identityToken: try house.signer.identityToken(
                    provider: house.registration.provider.id, kid: house.registration.keyID, externalID: "alice",
                    nonce: spent, now: house.clock.now), applicationID: nil, on: connection)
            let bench = try BanBench(house)
            let ban = try await bench.ban(.user("test/mallory")).ban
            let clock = AuditTests.Clock()
            try await AuditTests.sealer(house.store, clock)(signingAll: true)
            let now: @Sendable () -> Date = { house.clock.now }
            try await CopyStoreTests.withTarget(way.1, clock: now) { target in
                let copy = CopyStoreTests.copier(house.store, target, Schema.migrations)
                #expect(try await copy(isFinal: true).isFinished)
                try await target.migrate(Schema.migrations)
                // The move itself is the last entry, and is chained where it arrived.
                try await AuditTests.sealer(target, clock)(signingAll: true)
                let report = try await AuditTests.verify(target)
                #expect(report.defect == nil && report.entries > 1 && report.signed == report.entries)
                let (sessions, nonces, bans, holds) = try await target.read { transaction in
                    (
                        try [alice, mallory].map { try SessionRecords(transaction).find($0.session.id)?.state },
                        try transaction.first("SELECT count(*) FROM spent_nonces")?.integer(0),
                        try BanRecords(transaction).list(isActive: true, limit: 9).map(\.id),
                        try BanRecords(transaction).holdsInForce(on: mallory.session.userID).count
                    )
                }
                #expect(sessions == [.authenticated, .unauthenticated])
                #expect(nonces == 3 && bans == [ban.id] && holds == 1)
            }
        }
    }
}
