import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables providers, provider_keys, applications, provider_webhooks and provider_resources")
struct ProviderTableTests {
    @Test("A provider is found by id and slug, and a slug is taken once", arguments: StoreKind.shared)
    func providers(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (slug, first) = (try #require(Slug("alpha")), try #require(Slug("test")))
            func provider(_ slug: Slug) -> Provider {
                Provider(
                    id: ProviderID(UUID()), slug: slug, name: "Alpha", account: "42",
                    avatarHosts: ["a.example", "b.example"], createdAt: TestTables.now, disabledAt: TestTables.now,
                    tokenAlgorithm: .es256)
            }
            let (other, taken) = (provider(slug), provider(first))
            let answers = try await tables.write {
                (try ProviderRepository($0).insert(other), try ProviderRepository($0).insert(taken))
            }
            #expect(answers == (true, false))
            let found = try await tables.read { transaction in
                let records = ProviderRepository(transaction)
                return try (records.find(other.id), records.find(slug), records.list(), records.find(taken.id))
            }
            #expect(found.0 == other)
            #expect(found.1 == other)
            #expect(found.2.map(\.id) == [other.id, tables.provider])
            #expect(found.3 == nil)
            try await tables.write { try ProviderRepository($0).setDisabled(other.id, at: nil) }
            #expect(try await tables.read { try ProviderRepository($0).find(other.id)?.disabledAt } == nil)
            try await tables.write { try ProviderRepository($0).setTokenAlgorithm(other.id, .rs256) }
            #expect(try await tables.read { try ProviderRepository($0).find(other.id)?.tokenAlgorithm } == .rs256)
            let apps = try await tables.read { try ProviderRepository($0).listApplications(of: tables.provider) }
            #expect(apps == [Application(id: tables.application, providerID: tables.provider, name: "App")])
            await #expect(throws: StoreError.constraint(kind: .foreignKey)) {
                try await tables.sql("DELETE FROM providers WHERE slug = 'test'")
            }
            try await tables.sql("UPDATE providers SET slug = 'NO SLUG' WHERE slug = 'alpha'")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try ProviderRepository($0).find(other.id) }
            }
        }
    }

    @Test("A URL belongs to one provider in each of its forms", arguments: StoreKind.shared)
    func resources(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            func resource(_ text: String) throws -> ProviderResource {
                ProviderResource(url: try #require(ResourceURL(text)), providerID: tables.provider)
            }
            let (first, same, second) = try (
                resource("https://api.example"), resource("https://API.example:443/"), resource("https://api.example/a")
            )
            let answers = try await tables.write { transaction in
                let resources = ProviderResourceRepository(transaction)
                return try [first, same, second].map { try resources.insert($0, at: TestTables.now) }
            }
            #expect(answers == [true, false, true])
            let found = try await tables.read { transaction in
                let resources = ProviderResourceRepository(transaction)
                return try (resources.find(same.url), resources.list(of: tables.provider))
            }
            #expect(found.0 == first && found.1 == [first, second])
            try await tables.write { try ProviderResourceRepository($0).remove(same.url) }
            let rest = try await tables.read { try ProviderResourceRepository($0).list(of: tables.provider) }
            #expect(rest == [second])
            try await tables.sql("UPDATE provider_resources SET url = 'no URL'")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try ProviderResourceRepository($0).list(of: tables.provider) }
            }
        }
    }

    @Test("A key is registered once, by anyone, and acts until it is retired or revoked", arguments: StoreKind.shared)
    func keys(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let added = ProviderKeyRecord(
                id: ProviderKeyID(UUID()), providerID: tables.provider, algorithm: "EdDSA", subjectPublicKeyInfo: [2],
                origin: .provider, addedBy: tables.providerKey, createdAt: TestTables.now.addingTimeInterval(1),
                retiredAt: nil, revokedAt: nil)
            let same = tables.key(ProviderKeyID(UUID()), bytes: [2])
            let answers = try await tables.write {
                (try ProviderKeyRepository($0).insert(added), try ProviderKeyRepository($0).insert(same))
            }
            #expect(answers == (true, false))
            func mayAct() async throws -> [Bool] {
                try await tables.read { transaction in
                    try [tables.providerKey, added.id].map {
                        try ProviderKeyRepository(transaction).mayAct($0, for: tables.provider)
                    }
                }
            }
            #expect(try await mayAct() == [true, true])
            try await tables.write { try ProviderKeyRepository($0).retire(added.id, at: TestTables.now) }
            #expect(try await mayAct() == [true, false])
            try await tables.write { try ProviderKeyRepository($0).revoke(tables.providerKey, at: TestTables.now) }
            #expect(try await mayAct() == [false, false])
            let listed = try await tables.read { try ProviderKeyRepository($0).list(of: tables.provider) }
            #expect(listed.map(\.id) == [tables.providerKey, added.id])
            #expect(listed.last?.addedBy == tables.providerKey)
            #expect(listed.last?.retiredAt == TestTables.now)
            #expect(listed.last?.origin == .provider)
            try await tables.sql("UPDATE provider_keys SET origin = 'nobody'")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try ProviderKeyRepository($0).find(added.id) }
            }
        }
    }

    @Test("A receiver that does not answer rests, and a new one begins anew", arguments: StoreKind.shared)
    func webhooks(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let id = tables.provider
            let none = try await tables.read {
                (try ProviderWebhookRepository($0).find(id), try ProviderWebhookRepository($0).breaker(of: id))
            }
            #expect(none.0 == nil && none.1 == ReceiverBreaker())
            try await tables.write { transaction in
                let records = ProviderWebhookRepository(transaction)
                try records.set("https://a.example", of: id)
                for _ in 0..<20 { _ = try records.note(answered: false, by: "https://a.example", of: id) }
                _ = try records.note(answered: false, by: "https://b.example", of: id)
            }
            let failing = try await tables.read { try ProviderWebhookRepository($0).breaker(of: id) }
            #expect(failing.failures == 20)
            #expect(failing.pausedUntil != nil)
            try await tables.write { transaction in
                _ = try ProviderWebhookRepository(transaction).note(answered: true, by: "https://a.example", of: id)
            }
            #expect(try await tables.read { try ProviderWebhookRepository($0).breaker(of: id) } == ReceiverBreaker())
            try await tables.write { transaction in
                let records = ProviderWebhookRepository(transaction)
                _ = try records.note(answered: false, by: "https://a.example", of: id)
                try records.set("https://b.example", of: id)
            }
            let replaced = try await tables.read {
                (try ProviderWebhookRepository($0).find(id), try ProviderWebhookRepository($0).breaker(of: id))
            }
            #expect(replaced.0 == "https://b.example" && replaced.1 == ReceiverBreaker())
            try await tables.write { try ProviderWebhookRepository($0).remove(id) }
            #expect(try await tables.count("provider_webhooks") == 0)
        }
    }
}
