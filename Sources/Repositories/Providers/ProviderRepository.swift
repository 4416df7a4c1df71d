import Database
import Domain
import Foundation

/// Providers and their apps.
package struct ProviderRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Selection(ProviderColumns.self)

    /// Writes a new provider; `false` if the slug is taken.
    package func insert(_ provider: Provider) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO providers (\(Self.columns.all)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (slug) DO NOTHING
            """, Self.columns.row { $0.write(provider, to: &$1) }) > 0
    }

    /// The provider with an id.
    package func find(_ id: ProviderID) throws -> Provider? {
        try transaction.first("SELECT \(Self.columns) FROM providers WHERE id = $1", [.id(id)]).map(
            Self.columns.each.provider)
    }

    /// The provider with a slug.
    package func find(_ slug: Slug) throws -> Provider? {
        try transaction.first("SELECT \(Self.columns) FROM providers WHERE slug = $1", [.text(slug.text)])
            .map(Self.columns.each.provider)
    }

    /// The provider of an issuer and an audience.
    package func find(issuer: String, audience: String) throws -> ProviderID? {
        try transaction.value(
            "SELECT id FROM providers WHERE issuer = $1 AND audience = $2", [.text(issuer), .text(audience)])
    }

    /// The providers of an issuer by audience, no more than a number.
    package func list(issuer: String, limit: Int) throws -> [ProviderID] {
        try transaction.values(
            "SELECT id FROM providers WHERE issuer = $1 ORDER BY issuer, audience LIMIT $2",
            [.text(issuer), limit.value])
    }

    /// All providers by slug.
    package func list() throws -> [Provider] {
        try transaction.query("SELECT \(Self.columns) FROM providers ORDER BY slug", []).map(Self.columns.each.provider)
    }

    /// Disables a provider, or enables it with `nil`.
    package func setDisabled(_ id: ProviderID, at time: Date?) throws {
        try transaction.execute("UPDATE providers SET disabled_at = $2 WHERE id = $1", [.id(id), .time(time)])
    }

    package func setTokenAlgorithm(_ id: ProviderID, _ algorithm: AccessTokenAlgorithm) throws {
        try transaction.execute(
            "UPDATE providers SET token_algorithm = $2 WHERE id = $1", [.id(id), .text(algorithm.rawValue)])
    }

    private static let application = ColumnTuple(
        Column<ApplicationID>("id"), Column<ProviderID>("provider_id"), Column<String>("name"),
        Column<Date>("created_at"))

    package func insert(_ application: Application, at time: Date) throws {
        try transaction.execute(
            "INSERT INTO applications (\(Self.application)) VALUES (\(Self.application.placeholders))",
            Self.application.row(application.id, application.providerID, application.name, time))
    }

    /// A provider's apps, oldest first.
    package func listApplications(of id: ProviderID) throws -> [Application] {
        try transaction.query(
            "SELECT \(Self.application) FROM applications WHERE provider_id = $1 ORDER BY created_at, id", [.id(id)]
        ).map { row in
            let (id, provider, name, _) = try Self.application.read(row)
            return Application(id: id, providerID: provider, name: name)
        }
    }
}

/// The columns of `providers`.
private struct ProviderColumns: ColumnSet {
    let id: Column<ProviderID>
    let slug: Column<Slug>
    let name: Column<String>
    let account: Column<String?>
    /// With a space between any two.
    let avatarHosts: Column<String>
    let createdAt: Column<Date>
    let disabledAt: Column<Date?>
    let tokenAlgorithm: Column<AccessTokenAlgorithm>
    let issuer: Column<String?>
    let audience: Column<String?>
    /// With a space between any two.
    let idTokenAlgorithms: Column<String?>
    let endsRemovedKeys: Column<Bool>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        slug = list.add("slug")
        name = list.add("name")
        account = list.add("account")
        avatarHosts = list.add("avatar_hosts")
        createdAt = list.add("created_at")
        disabledAt = list.add("disabled_at")
        tokenAlgorithm = list.add("token_algorithm")
        issuer = list.add("issuer")
        audience = list.add("audience")
        idTokenAlgorithms = list.add("id_token_algorithms")
        endsRemovedKeys = list.add("ends_removed_keys")
    }

    func provider(_ row: Row) throws -> Provider {
        Provider(
            id: try row[id], slug: try row[slug], name: try row[name], account: try row[account],
            avatarHosts: try row[avatarHosts].split(separator: " ").map(String.init), createdAt: try row[createdAt],
            disabledAt: try row[disabledAt], tokenAlgorithm: try row[tokenAlgorithm], issuer: try readIssuer(row))
    }

    private func readIssuer(_ row: Row) throws -> ProviderIssuer? {
        guard let url = try row[issuer] else { return nil }
        guard let client = try row[audience], let algorithms = try row[idTokenAlgorithms] else {
            throw DamagedRow(column: audience.index)
        }
        return ProviderIssuer(
            url: url, audience: client, algorithms: algorithms.split(separator: " ").map(String.init),
            endsSessionsOfRemovedKeys: try row[endsRemovedKeys])
    }

    func write(_ provider: Provider, to row: inout NewRow) {
        row.set(id, provider.id)
        row.set(slug, provider.slug)
        row.set(name, provider.name)
        row.set(account, provider.account)
        row.set(avatarHosts, provider.avatarHosts.joined(separator: " "))
        row.set(createdAt, provider.createdAt)
        row.set(disabledAt, provider.disabledAt)
        row.set(tokenAlgorithm, provider.tokenAlgorithm)
        row.set(issuer, provider.issuer?.url)
        row.set(audience, provider.issuer?.audience)
        row.set(idTokenAlgorithms, provider.issuer?.algorithms.joined(separator: " "))
        row.set(endsRemovedKeys, provider.issuer?.endsSessionsOfRemovedKeys ?? false)
    }
}

extension Slug: ColumnContent {
    var value: Value { .text(text) }

    static func read(_ row: Row, _ index: Int) throws -> Slug {
        guard let slug = Slug(try row.text(index)) else { throw DamagedRow(column: index) }
        return slug
    }
}
