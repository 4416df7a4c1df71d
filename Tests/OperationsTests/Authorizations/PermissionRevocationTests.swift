import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Bans of users with very many permissions")
struct PermissionRevocationTests {
    /// Permissions of a user with another and with new users, as many as no requests could make, by two statements each.
    private static func plant(_ count: Int, of user: Session, with other: Session, in store: any Database) async throws
    {
        try await store.write { transaction in
            for number in 0..<count {
                let partner = number == 0 ? other.userID : UserID(UUID())
                if number > 0 {
                    try transaction.enqueue(
                        """
                        INSERT INTO users (id, provider_id, external_id, assurance, created_at, held)
                        VALUES ($1, $2, $1, 'none', 0, 0)
                        """, [.text("\(partner)"), .text("\(user.providerID)")])
                }
                try transaction.enqueue(
                    """
                    INSERT INTO authorizations (id, provider_id, asker_id, accepter_id, target, is_delivered, state,
                        created_at, expires_at, changed_at, accepter_generation, asker_generation)
                    VALUES ($1, $2, $3, $4, $5, 1, 'APPROVAL', $6, $6, $6, 0,
                        COALESCE((SELECT c.generation FROM permission_cuts c WHERE c.user_id = $3), 0))
                    """,
                    [
                        .text(UUID().uuidString.lowercased()), .text("\(user.providerID)"), .text("\(user.userID)"),
                        .text("\(partner)"), .bytes(Digest256.of("planted \(UUID())").bytes),
                        .integer(Int64(number)),
                    ])
            }
        }
    }

    private static func approved(_ store: any Database) async throws -> Int64? {
        try await store.read {
            try $0.first("SELECT COUNT(*) FROM authorizations WHERE state = 'APPROVAL'")?.integer(0)
        }
    }

    @Test("cost the same with 200 and with thousands, and permit nothing from then on", arguments: StoreKind.shared)
    func constantCost(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let counter = StatementCounter(fixture.store)
            let admin = Administration(store: counter, environment: fixture.admin.environment, actor: "admin test") {
                fixture.personalKeys
            }
            let bench = try BanBench(fixture)
            let (ada, eve) = (
                try await bench.phones.person("ada").session, try await bench.phones.person("eve").session
            )
            var costs: [StatementCounter.Counts] = []
            for count in [200, Soak.count(2_000, soak: 10_000)] {
                try await Self.plant(count, of: ada, with: eve, in: fixture.store)
                _ = counter.take()
                let (made, impact) = try await admin.addBan(try bench.order(.user("test/ada"), .messaging), upTo: nil)
                costs.append(counter.take())
                #expect(impact.authorizations == min(count, AuthorizationRepository.countLimit))
                let (permitted, asked) = try await fixture.store.read { transaction in
                    let parties = AuthorizationParties(fixture.policy, in: transaction)
                    return (
                        try parties.arePermitted(ada.userID, eve.userID),
                        try AuthorizationRepository(transaction).countOpen(of: eve.userID)
                    )
                }
                #expect(!permitted && asked == 0)
                #expect(try await Self.approved(fixture.store) == Int64(count - PermissionRevocationRepository.atOnce))
                // Lifting revives nothing, whether the rows have followed or not.
                _ = try await fixture.admin.liftBan(made.id, note: "a mistake")
                #expect(
                    try await fixture.store.read {
                        try AuthorizationParties(fixture.policy, in: $0).arePermitted(ada.userID, eve.userID)
                    } == false)
                let report = try await fixture.housekeeping()
                #expect(report.failed.isEmpty)
                #expect(try await Self.approved(fixture.store) == 0)
                fixture.clock.advance(60)
                _ = try await fixture.housekeeping()
                fixture.clock.advance(60)
            }
            #expect(costs[0] == costs[1])
            #expect(costs[0].rows <= 3 * PermissionRevocationRepository.atOnce)
        }
    }

    @Test("keep nobody from asking anew, although no row has followed")
    func askedAnew() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            _ = try await bench.context.approveAuthorization(id, for: bob)
            #expect(try await bench.ban(bob) == 1)
            // As if it were one of those that are left for later.
            try await bench.store.write {
                _ = try $0.execute("UPDATE authorizations SET state = 'APPROVAL'")
            }
            #expect(try await bench.context.readAuthorization(id, to: alice).grant == nil)
            #expect(await bench.state { try await bench.context.cancelAuthorization(id, for: alice) } == "BANNED")
            let again = try await bench.request(alice, bob)
            #expect(try await bench.context.approveAuthorization(again, for: bob).grant != nil)
            #expect(try await bench.context.readAuthorization(id, to: alice).authorization.state == .banned)
            _ = try await bench.housekeeping()
            #expect(try await bench.context.readAuthorization(again, to: alice).grant != nil)
        }
    }
}
