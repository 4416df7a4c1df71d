import Database
import Domain
import Foundation

package struct ProviderRepository {
    private let transaction: any Transaction
}

package extension ProviderRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Hosts and algorithms are stored as text, separated by spaces.
    private static let columns = Table<Provider>(
        "providers",
        {
            id, slug, name, account, avatarHosts, createdAt, disabledAt, tokenAlgorithm, issuer, audience, algorithms,
            endsRemovedKeys in
            Provider(
                id: id, slug: slug, name: name, account: account,
                avatarHosts: avatarHosts.split(separator: " ").map(String.init), createdAt: createdAt,
                disabledAt: disabledAt, tokenAlgorithm: tokenAlgorithm,
                issuer: try issuer.map { url in
                    guard let audience, let algorithms else { throw DamagedRow(column: 9) }
                    return ProviderIssuer(
                        url: url, audience: audience, algorithms: algorithms.split(separator: " ").map(String.init),
                        endsSessionsOfRemovedKeys: endsRemovedKeys)
                })
        },
        Field("id", \.id),
        Field("slug", \.slug),
        Field("name", \.name),
        Field("account", \.account),
        Field("avatar_hosts") { $0.avatarHosts.joined(separator: " ") },
        Field("created_at", \.createdAt),
        Field("disabled_at", \.disabledAt),
        Field("token_algorithm", \.tokenAlgorithm),
        Field("issuer", \.issuer?.url),
        Field("audience", \.issuer?.audience),
        Field("id_token_algorithms") { $0.issuer?.algorithms.joined(separator: " ") },
        Field("ends_removed_keys") { $0.issuer?.endsSessionsOfRemovedKeys ?? false })

    /// Inserts a new provider; `false` if the slug is taken.
    func insert(_ provider: Provider) throws -> Bool {
        let isNew =
            try transaction.execute(
                "\(Self.columns.insertion) ON CONFLICT (slug) DO NOTHING", Self.columns.row(provider)) > 0
        if isNew { try ProviderClients(transaction).insert(provider) }
        return isNew
    }

    func find(_ id: ProviderID) throws -> Provider? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)]).map(ProviderClients(transaction).complete)
    }

    /// The ids that begin with a text, in order.
    func ids(_ typed: TypedID<Kind.Provider>, limit: Int) throws -> [ProviderID] {
        try TypedIDRepository(transaction).list(typed, limit: limit)
    }

    func find(_ slug: Slug) throws -> Provider? {
        try transaction.first(Self.columns, "WHERE slug = $1", [.text(slug.text)])
            .map(ProviderClients(transaction).complete)
    }

    private static let slugs = ColumnTuple(Column<ProviderID>("id"), Column<Slug>("slug"))
    private static let some = ListStatement { "SELECT \(slugs) FROM providers WHERE id IN \($0.in)" }

    /// The slugs of some providers, in few statements.
    func slugs(of ids: [ProviderID]) throws -> [ProviderID: Slug] {
        let rows = try transaction.query(Self.some, list: ids.map(\.value)).map(Self.slugs.read)
        return Dictionary(rows.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    /// The provider of an issuer and one of its audiences.
    func find(issuer: String, audience: String) throws -> ProviderID? {
        let first: ProviderID? = try transaction.value(
            "SELECT id FROM providers WHERE issuer = $1 AND audience = $2", [.text(issuer), .text(audience)])
        return try first ?? ProviderClients(transaction).find(issuer: issuer, audience: audience)
    }

    /// The providers of an issuer, ordered by audience, up to a limit.
    func list(issuer: String, limit: Int) throws -> [ProviderID] {
        try transaction.values(
            "SELECT id FROM providers WHERE issuer = $1 ORDER BY issuer, audience LIMIT $2",
            [.text(issuer), limit.value])
    }

    func list() throws -> [Provider] {
        try transaction.query(Self.columns, "ORDER BY slug", []).map(ProviderClients(transaction).complete)
    }

    /// Providers by slug, without their other clients.
    ///
    /// - Parameter slug: that of the last provider on the previous page; `nil` for the first page.
    func list(limit: Int, after slug: String?) throws -> [Provider] {
        try transaction.query(
            Self.columns, "WHERE slug > $1 ORDER BY slug LIMIT $2", [.text(slug ?? ""), limit.value])
    }

    /// Disables a provider, or enables it with `nil`.
    func setDisabled(_ id: ProviderID, at time: Date?) throws {
        try transaction.execute("UPDATE providers SET disabled_at = $2 WHERE id = $1", [.id(id), .time(time)])
    }

    func setTokenAlgorithm(_ id: ProviderID, _ algorithm: AccessTokenAlgorithm) throws {
        try transaction.execute(
            "UPDATE providers SET token_algorithm = $2 WHERE id = $1", [.id(id), .text(algorithm.rawValue)])
    }

    /// Replaces the audiences and parties of a provider by issuer, in their order.
    func setClients(of provider: Provider) throws {
        guard let issuer = provider.issuer else { return }
        let clients = ProviderClients(transaction)
        try clients.remove(of: provider.id)
        try transaction.execute(
            "UPDATE providers SET audience = $2 WHERE id = $1", [.id(provider.id), .text(issuer.audience)])
        try clients.insert(provider)
    }

    private static let applications = Table<Application>(
        "applications", Application.init,
        Field("id", \.id),
        Field("provider_id", \.providerID),
        Field("name", \.name))
    private static let applicationInsertion = applications.insertion(with: "created_at")

    func insert(_ application: Application, at time: Date) throws {
        try transaction.execute(Self.applicationInsertion, Self.applications.row(application, .time(time)))
    }

    /// The app with an id, of any provider; `nil` if there is none.
    func findApplication(_ id: ApplicationID) throws -> Application? {
        try transaction.first(Self.applications, "WHERE id = $1", [.id(id)])
    }

    /// A provider's apps, oldest first.
    func listApplications(of id: ProviderID) throws -> [Application] {
        try transaction.query(Self.applications, "WHERE provider_id = $1 ORDER BY created_at, id", [.id(id)])
    }
}

extension Slug: ColumnContent {
    var value: Value { .text(text) }

    static func read(_ row: Row, _ index: Int) throws -> Slug {
        guard let slug = Slug(try row.text(index)) else { throw DamagedRow(column: index) }
        return slug
    }
}
