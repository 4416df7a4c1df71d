import Crypto
import Database
import Domain
import Encoding
import Foundation

/// The keys of contact discovery, one for each provider and week. A row contains a random seed. The key is derived from
/// it with an index key that is not in any store, so it cannot be derived again once the row is deleted.
package struct DiscoveryKeyRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
    private let derived: DerivedDiscoveryKeys
}

package extension DiscoveryKeyRepository {
    /// - Parameter derived: the cache of derived keys.
    init(_ transaction: any Transaction, keys: PersonalKeys, derived: DerivedDiscoveryKeys) {
        self.transaction = transaction
        self.keys = keys
        self.derived = derived
    }

    /// A week's key, and the other values of its set.
    struct Entry: Sendable {
        package let week: DiscoveryWeek
        package let key: ObliviousKey
        package let publicKey: [UInt8]
        /// The key from which padding entries are derived.
        package let padding: SymmetricKey
        /// The number of bits in a bucket's name.
        package let bits: Int
    }

    private static let columns = ColumnTuple(
        Column<ProviderID>("provider_id"), Column<Int64>("week"), Column<[UInt8]>("seed"),
        Column<Int>("index_version"), Column<Int>("entries"))
    private static let read = ColumnTuple(
        Column<[UInt8]>("seed"), Column<Int>("index_version"), Column<Int>("entries"))

    /// A week's key; `nil` if there is none.
    ///
    /// - Throws: ``SealingFailure/unknownVersion(_:)`` if its index key is missing.
    func find(_ week: DiscoveryWeek, of provider: ProviderID) throws -> Entry? {
        guard
            let row = try transaction.first(
                "SELECT \(Self.read) FROM discovery_keys WHERE provider_id = $1 AND week = $2",
                [.id(provider), .integer(week.number)])
        else { return nil }
        let (seed, version, entries) = try Self.read.read(row)
        guard keys.indexVersions.contains(version) else { throw SealingFailure.unknownVersion(version) }
        let source = DerivedDiscoveryKeys.Source(
            provider: provider, week: week.number, seed: seed, version: version)
        let found = try derived.find(source, at: transaction.now) { try derive(source) }
        return Entry(
            week: week, key: found.key, publicKey: found.publicKey, padding: found.padding,
            bits: DiscoveryBucket.bits(of: entries))
    }

    private func derive(_ source: DerivedDiscoveryKeys.Source) throws -> DerivedDiscoveryKeys.Derived {
        func secret(_ use: String) throws -> Digest256 {
            let text = "\(use) \(source.provider) \(source.week) \(Base64URL.encode(source.seed))"
            let indexes = keys.versionedBlindIndexes(text, .discovery)
            guard let found = indexes.first(where: { $0.version == source.version }) else {
                throw SealingFailure.unknownVersion(source.version)
            }
            return found.index
        }
        let key = try ObliviousKey(derivedFrom: secret("key"))
        return DerivedDiscoveryKeys.Derived(
            key: key, publicKey: try key.publicKey, padding: SymmetricKey(data: try secret("padding").bytes))
    }

    /// A week's key, created if there is none.
    ///
    /// - Throws: ``SealingFailure``, as ``find(_:of:)``.
    func findOrCreate(_ week: DiscoveryWeek, of provider: ProviderID, seed: [UInt8]) throws -> Entry? {
        try transaction.execute(
            """
            INSERT INTO discovery_keys (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (provider_id, week) DO NOTHING
            """,
            Self.columns.row(provider, week.number, seed, keys.indexVersions.max() ?? 1, 0))
        return try find(week, of: provider)
    }

    /// Counts added entries of a week's set. The number only determines the size of buckets, and never falls.
    func count(entries: Int, in week: DiscoveryWeek, of provider: ProviderID) throws {
        try transaction.execute(
            "UPDATE discovery_keys SET entries = entries + $3 WHERE provider_id = $1 AND week = $2",
            [.id(provider), .integer(week.number), entries.value])
    }

    static func purge(before week: DiscoveryWeek, in transaction: any Transaction) throws -> Int {
        try transaction.execute("DELETE FROM discovery_keys WHERE week < $1", [.integer(week.number)])
    }
}
