import Database
import Domain
import Foundation

/// Providers and their apps.
package struct ProviderRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = "id, slug, name, account, avatar_hosts, created_at, disabled_at"

    /// Writes a new provider; `false` where the slug is taken.
    package func insert(_ provider: Provider) throws -> Bool {
        try transaction.execute(
            "INSERT INTO providers (\(Self.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (slug) DO NOTHING",
            [
                .id(provider.id), .text(provider.slug.text), .text(provider.name), .optional(provider.account),
                .text(provider.avatarHosts.joined(separator: " ")), .time(provider.createdAt),
                .time(provider.disabledAt),
            ]) > 0
    }

    /// The provider with an id.
    package func find(_ id: ProviderID) throws -> Provider? {
        try transaction.first("SELECT \(Self.columns) FROM providers WHERE id = $1", [.id(id)]).map(Self.provider)
    }

    /// The provider with a slug.
    package func find(_ slug: Slug) throws -> Provider? {
        try transaction.first("SELECT \(Self.columns) FROM providers WHERE slug = $1", [.text(slug.text)])
            .map(Self.provider)
    }

    /// All providers by slug.
    package func list() throws -> [Provider] {
        try transaction.query("SELECT \(Self.columns) FROM providers ORDER BY slug", []).map(Self.provider)
    }

    /// Disables a provider, or enables it with `nil`.
    package func setDisabled(_ id: ProviderID, at time: Date?) throws {
        try transaction.execute("UPDATE providers SET disabled_at = $2 WHERE id = $1", [.id(id), .time(time)])
    }

    package func insert(_ application: Application, at time: Date) throws {
        try transaction.execute(
            "INSERT INTO applications (id, provider_id, name, created_at) VALUES ($1, $2, $3, $4)",
            [.id(application.id), .id(application.providerID), .text(application.name), .time(time)])
    }

    /// A provider's apps, oldest first.
    package func listApplications(of id: ProviderID) throws -> [Application] {
        try transaction.query(
            "SELECT id, provider_id, name FROM applications WHERE provider_id = $1 ORDER BY created_at, id", [.id(id)]
        ).map { Application(id: try $0.id(0), providerID: try $0.id(1), name: try $0.text(2)) }
    }

    private static func provider(_ row: Row) throws -> Provider {
        guard let slug = Slug(try row.text(1)) else { throw DamagedRow(column: 1) }
        return Provider(
            id: try row.id(0), slug: slug, name: try row.text(2), account: try row.textOrNull(3),
            avatarHosts: try row.text(4).split(separator: " ").map(String.init), createdAt: try row.time(5),
            disabledAt: try row.timeOrNull(6))
    }
}
