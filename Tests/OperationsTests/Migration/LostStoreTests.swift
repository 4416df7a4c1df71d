import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// A restore of a copy whose store is lost, on each engine.
@Suite("A restore without the replaced store")
struct LostStoreTests {
    @Test("ends acts that wait for a second administrator, and skips numbers of lists", arguments: StoreKind.shared)
    func restored(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let authority = Digest256.of("authority")
            try await fixture.admin.addAdministrator("lena", role: .security)
            try await fixture.store.write { transaction in
                let lena = try #require(try AdministratorRepository(transaction).list().first)
                try WaitingActRepository(transaction).insert(
                    WaitingAct(
                        id: WaitingActID(UUID()), kind: .disabling, subject: "test", content: "{}", users: 1,
                        reason: nil, requestedBy: lena.id, createdAt: transaction.now, isUrgent: false)
                )
                try RevocationListRepository(transaction).publish(
                    .init(
                        authority: authority, number: 7, der: [1], entries: 0, thisUpdate: transaction.now,
                        revocations: 0))
            }
            fixture.clock.advance(60)
            let report = try await RestoreStore(
                restored: fixture.store, replaced: nil, keys: fixture.personalKeys,
                environment: Environment(now: { fixture.clock.now }), actor: "admin test")(reason: nil)
            #expect(report.receivers.isEmpty)
            let (acts, list) = try await fixture.store.read { transaction in
                (
                    try WaitingActRepository(transaction).list(after: .distantPast),
                    try RevocationListRepository(transaction).heading(of: authority)
                )
            }
            #expect(acts.isEmpty)
            // The lost store has published at most one list in each millisecond.
            #expect((list?.number ?? 0) >= 60_000)
            #expect(list?.revocations == -1)
        }
    }
}
