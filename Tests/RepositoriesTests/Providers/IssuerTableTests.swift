import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables issuers and provider_clients, and what providers and provider_keys hold of an issuer")
struct IssuerTableTests {
    private static let issuer = ProviderIssuer(
        url: "https://idp.example", audience: "client-1", algorithms: ["RS256", "ES256"],
        endsSessionsOfRemovedKeys: true)

    private static func provider(_ slug: String, audience: String = "client-1") throws -> Provider {
        Provider(
            id: ProviderID(UUID()), slug: try #require(Slug(slug)), name: slug, account: nil, avatarHosts: [],
            createdAt: TestTables.now, disabledAt: nil,
            issuer: ProviderIssuer(
                url: issuer.url, audience: audience, algorithms: issuer.algorithms, endsSessionsOfRemovedKeys: true))
    }

    @Test("A provider is found by issuer and audience, and a pair belongs to one", arguments: StoreKind.shared)
    func pairs(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (first, second) = (try Self.provider("one"), try Self.provider("two", audience: "client-2"))
            let third = try Self.provider("three")
            try await tables.write {
                for provider in [first, second] { _ = try ProviderRepository($0).insert(provider) }
            }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write { _ = try ProviderRepository($0).insert(third) }
            }
            let found = try await tables.read { transaction in
                let providers = ProviderRepository(transaction)
                return (
                    try providers.find(issuer: "https://idp.example", audience: "client-2"),
                    try providers.find(issuer: "https://idp.example/", audience: "client-2"),
                    try providers.list(issuer: "https://idp.example", limit: 9), try providers.find(first.id)
                )
            }
            #expect(found.0 == second.id && found.1 == nil && found.2 == [first.id, second.id])
            #expect(found.3?.issuer == Self.issuer)
            #expect(try await tables.read { try ProviderRepository($0).find(tables.provider)?.issuer } == nil)
            try await tables.sql("UPDATE providers SET audience = NULL WHERE slug = 'one'")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try ProviderRepository($0).find(first.id) }
            }
        }
    }

    @Test(
        "A provider has further audiences and parties, in their order, and is found by each audience",
        arguments: StoreKind.shared)
    func clients(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var (first, second) = (try Self.provider("one"), try Self.provider("two", audience: "client-2"))
            first.issuer?.otherAudiences = ["web", "app"]
            first.issuer?.parties = ["tablet", "phone"]
            second.issuer?.parties = ["phone"]
            let (one, two) = (first, second)
            try await tables.write {
                for provider in [one, two] { _ = try ProviderRepository($0).insert(provider) }
            }
            let url = Self.issuer.url
            let found = try await tables.read { transaction in
                let providers = ProviderRepository(transaction)
                return (
                    try ["client-1", "web", "app", "phone", "client-2"].map {
                        try providers.find(issuer: url, audience: $0)
                    },
                    try [providers.find(one.id), providers.find(one.slug), providers.find(two.id)],
                    try providers.list().filter { $0.issuer != nil }
                )
            }
            #expect(found.0 == [one.id, one.id, one.id, nil, two.id])
            #expect(found.1 == [one, one, two] && found.2 == [one, two])
            var third = try Self.provider("three", audience: "client-3")
            third.issuer?.otherAudiences = ["web"]
            let taken = third
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write { _ = try ProviderRepository($0).insert(taken) }
            }
        }
    }

    @Test(
        "Clients are replaced: the next audience takes the place of the first, and an audience is free for another",
        arguments: StoreKind.shared)
    func replacedClients(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var (first, second) = (try Self.provider("one"), try Self.provider("two", audience: "client-2"))
            first.issuer?.otherAudiences = ["web", "app"]
            first.issuer?.parties = ["tablet"]
            second.issuer?.parties = ["phone"]
            let (one, two) = (first, second)
            try await tables.write {
                for provider in [one, two] { _ = try ProviderRepository($0).insert(provider) }
            }
            first.issuer = ProviderIssuer(
                url: Self.issuer.url, audience: "web", otherAudiences: ["desktop"], parties: ["phone", "tablet"],
                algorithms: Self.issuer.algorithms, endsSessionsOfRemovedKeys: true)
            let changed = first
            let found = try await tables.write { transaction in
                let providers = ProviderRepository(transaction)
                try providers.setClients(of: changed)
                return (
                    try [providers.find(one.id), providers.find(two.id)],
                    try ["client-1", "web", "app", "desktop", "client-2"].map {
                        try providers.find(issuer: Self.issuer.url, audience: $0)
                    }
                )
            }
            #expect(found.0 == [changed, two])
            #expect(found.1 == [nil, one.id, nil, one.id, two.id])
            let third = try Self.provider("three", audience: "app")
            #expect(try await tables.write { try ProviderRepository($0).insert(third) })
        }
    }

    @Test(
        "A try is claimed by one, once in a minute, and one that was overtaken ends nothing",
        arguments: StoreKind.shared)
    func claims(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let url = Self.issuer.url
            @Sendable func ago(_ seconds: TimeInterval) -> IssuerReading {
                let at = TestTables.now.addingTimeInterval(-seconds)
                return IssuerReading(attemptedAt: at, readAt: at, freshUntil: at.addingTimeInterval(300))
            }
            func reset(_ reading: IssuerReading) async throws {
                try await tables.sql("DELETE FROM issuers")
                try await tables.write { try IssuerRepository($0).insert(url, reading) }
            }
            for (seconds, isFree) in [(59.0, false), (60, true), (-1, true), (3600, true)] {
                try await reset(ago(seconds))
                let claims = try await tables.write { transaction in
                    try (0..<2).map { _ in try IssuerRepository(transaction).claim(url) }
                }
                #expect(claims == [isFree, false], "\(seconds)")
            }
            #expect(try await tables.write { try IssuerRepository($0).claim("https://none.example") } == false)
            let (mine, theirs) = (TestTables.now, TestTables.now.addingTimeInterval(-1))
            try await tables.write { try IssuerRepository($0).end(url, claimedAt: theirs, failure: "late") }
            try await tables.write { try IssuerRepository($0).end(url, claimedAt: theirs, freshFor: 600) }
            #expect(try await tables.read { try IssuerRepository($0).find(url)?.failure } == nil)
            #expect(try await tables.read { try IssuerRepository($0).isClaimed(url, at: theirs) } == false)
            try await tables.write { try IssuerRepository($0).end(url, claimedAt: mine, failure: "no connection") }
            #expect(try await tables.read { try IssuerRepository($0).list()[url]?.failure } == "no connection")
            try await tables.write { try IssuerRepository($0).end(url, claimedAt: mine, freshFor: 600) }
            let ended = try await tables.read { try IssuerRepository($0).find(url) }
            #expect(
                ended == IssuerReading(attemptedAt: mine, readAt: mine, freshUntil: mine.addingTimeInterval(600)))
            // What is known of an issuer stays when another provider has it too.
            try await tables.write { try IssuerRepository($0).insert(url, ago(7200)) }
            #expect(try await tables.read { try IssuerRepository($0).find(url) } == ended)
        }
    }

    @Test(
        "What is due comes in the order of the last tries, without what was tried just now", arguments: StoreKind.shared
    )
    func due(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let now = TestTables.now
            try await tables.write { transaction in
                for (name, tried, fresh) in [("a", 70.0, -1.0), ("b", 400, -1), ("c", 30, -1), ("d", 400, 1)] {
                    let at = now.addingTimeInterval(-tried)
                    try IssuerRepository(transaction).insert(
                        name, IssuerReading(attemptedAt: at, readAt: at, freshUntil: now.addingTimeInterval(fresh)))
                }
            }
            #expect(try await tables.read { try IssuerRepository($0).listDue(limit: 9) } == ["b", "a"])
            #expect(try await tables.read { try IssuerRepository($0).listDue(limit: 1) } == ["b"])
        }
    }

    @Test(
        "A key of an issuer is one of each of its providers, comes back, and is purged when nothing hangs on it",
        arguments: StoreKind.shared)
    func keys(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let other = try Self.provider("one")
            func key(_ provider: ProviderID, _ name: String = "k") -> ProviderKeyRecord {
                ProviderKeyRecord(
                    id: ProviderKeyID(UUID()), providerID: provider, algorithm: "ES256", subjectPublicKeyInfo: [1],
                    origin: .issuer, createdAt: TestTables.now, retiredAt: nil, revokedAt: nil, issuerKeyID: name)
            }
            let first = key(other.id)
            let (same, renamed, elsewhere) = (key(other.id), key(other.id, "l"), key(tables.provider))
            let answers = try await tables.write { transaction in
                _ = try ProviderRepository(transaction).insert(other)
                return try [first, same, renamed, elsewhere].map { try ProviderKeyRepository(transaction).insert($0) }
            }
            #expect(answers == [true, false, true, true])
            #expect(try await tables.read { try ProviderKeyRepository($0).find(first.id) } == first)
            let later = TestTables.now.addingTimeInterval(1)
            func purge(_ id: ProviderKeyID) async throws -> Bool {
                try await tables.write { try ProviderKeyRepository($0).purge(id, goneBefore: later) }
                return try await tables.read { try ProviderKeyRepository($0).find(id) } == nil
            }
            #expect(try await !purge(first.id))
            try await tables.write { try ProviderKeyRepository($0).retire(first.id, at: TestTables.now) }
            try await tables.write { try ProviderKeyRepository($0).reinstate(first.id) }
            #expect(try await tables.read { try ProviderKeyRepository($0).find(first.id) } == first)
            for id in [first.id, renamed.id, tables.providerKey] {
                try await tables.write { try ProviderKeyRepository($0).retire(id, at: TestTables.now) }
            }
            try await tables.write { try ProviderKeyRepository($0).revoke(renamed.id, at: TestTables.now) }
            #expect(try await !purge(renamed.id))
            #expect(try await !purge(tables.providerKey))
            #expect(try await purge(first.id))
        }
    }

    @Test("No statement walks a table that grows", arguments: StoreKind.shared)
    func plans(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let plans = StatementPlans(kind)
            for (sql, index) in [
                ("SELECT id FROM providers WHERE issuer = 'x' AND audience = 'y'", "providers_by_issuer"),
                (
                    "SELECT provider_id FROM provider_clients WHERE issuer = 'x' AND client = 'y' AND role = 'audience'",
                    "provider_clients_by_audience"
                ),
                (
                    "SELECT id FROM providers WHERE issuer = 'x' ORDER BY issuer, audience LIMIT 1",
                    "providers_by_issuer"
                ),
                (
                    "SELECT 1 FROM sessions s WHERE s.provider_key_id = 'x' AND s.state <> 'unauthenticated'",
                    "sessions_open_by_key"
                ),
            ] {
                let plan = try await plans.plan(of: sql, [], in: store)
                #expect(plan.contains { $0.contains(index) }, "\(plan)")
            }
        }
    }
}
