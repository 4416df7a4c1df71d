import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

/// What a page of the console reads. Each of these statements is explained when the test ends.
@Suite("Statements of the console")
struct ConsolePlanTests {
    @Test("find a user by id, its beginning and address, with the provider's slug", arguments: StoreKind.shared)
    func users(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (id, slug) = (tables.user, try #require(Slug("test")))
            let found = try await tables.read { transaction in
                let users = UserRepository(transaction)
                return [
                    try users.addressed(TypedID<Kind.User>(id.description), limit: 6),
                    try users.addressed(TypedID<Kind.User>(String(id.description.prefix(10))), limit: 6),
                    try users.addressed(slug: slug, externalID: "ada").map { [$0] } ?? [],
                    try users.addressed(externalID: "ada", limit: 50),
                ]
            }
            for users in found {
                #expect(users.map(\.user.id) == [id] && users.map(\.slug) == [slug])
            }
            let slugs = try await tables.read { transaction in
                (
                    try ProviderRepository(transaction).slugs(of: [tables.provider]),
                    try ProviderRepository(transaction).findApplication(tables.application)?.providerID,
                    try UserRepository(transaction).addressed(slug: slug, externalID: "eve")?.user.id
                )
            }
            #expect(slugs.0 == [tables.provider: slug] && slugs.1 == tables.provider && slugs.2 == nil)
        }
    }

    @Test("find what belongs to a user, device, provider or ban by an index", arguments: StoreKind.shared)
    func rows(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let counts = try await tables.read { transaction in
                let (sessions, user) = (SessionRepository(transaction), tables.user)
                return [
                    try sessions.newestOpen(.user(user), limit: 5).count,
                    try sessions.newestOpen(.device(tables.device), limit: 5).count,
                    try sessions.countOpen(.provider(tables.provider), limit: 5),
                    try UserTraceRepository(transaction, of: user).countDevices(),
                    try CertificateRepository(transaction).list(ofNewestDevices: 20, of: user, limit: 9).count,
                    try AuditChainRepository(transaction).unchained(of: "user x", limit: 9).count,
                    try BanRepository(transaction).entriesInForce(on: [.user(user), .device(tables.device)]).count,
                    try OutboxRepository(transaction).countRetriable(),
                    try DeviceRepository(transaction).find(tables.device)?.sessions ?? -1,
                ]
            }
            #expect(counts.allSatisfy { $0 == 0 }, "\(counts)")
        }
    }
}
