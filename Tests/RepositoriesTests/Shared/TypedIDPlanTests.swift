import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Plans of what an admin types")
struct TypedIDPlanTests {
    @Test(
        "A beginning of an id is a range of an index, in every table and the audit log", arguments: StoreKind.shared)
    func beginnings(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let plans = StatementPlans(kind)
            try await store.read { transaction in
                let ids = TypedIDRepository(plans.recording(transaction))
                func list<Kind: NamedKind>(_ kind: Kind.Type) throws {
                    #expect(try ids.list(TypedID<Kind>("0123abcd"), limit: 6).isEmpty)
                }
                try list(Kind.User.self)
                try list(Kind.Device.self)
                try list(Kind.Provider.self)
                try list(Kind.Application.self)
                try list(Kind.ProviderKey.self)
                try list(Kind.Session.self)
                try list(Kind.OutboxMessage.self)
                try list(Kind.EventStream.self)
                try list(Kind.IdentityCard.self)
                try list(Kind.Ban.self)
                try list(Kind.WaitingAct.self)
                let serials = CertificateRepository(plans.recording(transaction))
                #expect(try serials.serials(beginningWith: "0123abcd", limit: 6).isEmpty)
                let audit = AuditChainRepository(plans.recording(transaction))
                #expect(try audit.subjects(after: "user 0", through: "user f", limit: 6).isEmpty)
                #expect(try !audit.has(subject: "user 0"))
                let outbox = OutboxRepository(plans.recording(transaction))
                let user = UserID(UUID())
                let states: [OutboxMessage.State?] = [nil] + OutboxMessage.State.allCases
                for state in states {
                    #expect(try outbox.list(state, of: user, limit: 5).isEmpty)
                }
                for user in [nil, user] {
                    #expect(try outbox.countRetriable(of: user) == 0)
                    #expect(try outbox.listRetriable(of: user, limit: 5).isEmpty)
                }
            }
            try await plans.requireNoScan(store)
        }
    }
}
