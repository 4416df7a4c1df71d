import Database
import Domain
import Foundation

/// The URLs of providers' backends.
package struct ProviderResourceRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<String>("canonical_url"), Column<ResourceURL>("url"), Column<ProviderID>("provider_id"),
        Column<Date>("added_at"))

    /// Writes a new one; `false` if a provider has it.
    package func insert(_ resource: ProviderResource, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO provider_resources (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (canonical_url) DO NOTHING
            """, Self.columns.row(resource.url.canonical, resource.url, resource.providerID, time)) > 0
    }

    /// The one of a URL, in whatever form it was registered.
    package func find(_ url: ResourceURL) throws -> ProviderResource? {
        try transaction.first(
            "SELECT \(Self.columns) FROM provider_resources WHERE canonical_url = $1", [.text(url.canonical)]
        ).map(Self.resource)
    }

    /// A provider's, oldest first.
    package func list(of provider: ProviderID) throws -> [ProviderResource] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM provider_resources WHERE provider_id = $1
            ORDER BY provider_id, added_at, canonical_url
            """, [.id(provider)]
        ).map(Self.resource)
    }

    /// All providers'.
    package func all() throws -> [ProviderResource] {
        try transaction.query("SELECT \(Self.columns) FROM provider_resources ORDER BY canonical_url")
            .map(Self.resource)
    }

    package func remove(_ url: ResourceURL) throws {
        try transaction.execute(
            "DELETE FROM provider_resources WHERE canonical_url = $1", [.text(url.canonical)])
    }

    private static func resource(_ row: Row) throws -> ProviderResource {
        let (_, url, provider, _) = try columns.read(row)
        return ProviderResource(url: url, providerID: provider)
    }
}

extension ResourceURL: ColumnContent {
    var value: Value { .text(text) }

    static func read(_ row: Row, _ index: Int) throws -> ResourceURL {
        guard let url = ResourceURL(try row.text(index)) else { throw DamagedRow(column: index) }
        return url
    }
}
