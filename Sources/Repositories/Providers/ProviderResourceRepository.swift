import Database
import Domain
import Foundation

package struct ProviderResourceRepository {
    private let transaction: any Transaction
}

package extension ProviderResourceRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<ProviderResource>(
        "provider_resources", ProviderResource.init,
        Field("url", \.url),
        Field("provider_id", \.providerID))
    private static let insertion = columns.insertion(with: "canonical_url", "added_at")

    /// Inserts a new URL; `false` if a provider has it already.
    func insert(_ resource: ProviderResource, at time: Date) throws -> Bool {
        try transaction.execute(
            "\(Self.insertion) ON CONFLICT (canonical_url) DO NOTHING",
            Self.columns.row(resource, resource.url.canonical.value, .time(time))) > 0
    }

    /// The resource of a URL, in any spelling.
    func find(_ url: ResourceURL) throws -> ProviderResource? {
        try transaction.first(Self.columns, "WHERE canonical_url = $1", [.text(url.canonical)])
    }

    /// A provider's URLs, oldest first.
    func list(of provider: ProviderID) throws -> [ProviderResource] {
        try transaction.query(
            Self.columns, "WHERE provider_id = $1 ORDER BY provider_id, added_at, canonical_url", [.id(provider)])
    }

    func all() throws -> [ProviderResource] {
        try transaction.query(Self.columns, "ORDER BY canonical_url")
    }

    func remove(_ url: ResourceURL) throws {
        try transaction.execute(
            "DELETE FROM provider_resources WHERE canonical_url = $1", [.text(url.canonical)])
    }
}

extension ResourceURL: ColumnContent {
    var value: Value { .text(text) }

    static func read(_ row: Row, _ index: Int) throws -> ResourceURL {
        guard let url = ResourceURL(try row.text(index)) else { throw DamagedRow(column: index) }
        return url
    }
}
