import Database
import Domain
import Encoding

/// Digests of the keys of personal data that the store was written with. They reveal no key.
///
/// A node with different keys would start, find no banned number, and open no sealed row.
package struct KeyFingerprintRepository {
    private let transaction: any Transaction
}

package extension KeyFingerprintRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The recorded items. Data that was written with such a key is lost without it.
    private static let recorded: [NodeFingerprints.Item] = [.wrappingKeys, .blindIndexKeys]
    private static let columns = ColumnTuple(
        Column<String>("item"), Column<Int>("version"), Column<Digest256>("digest"))

    func list() throws -> NodeFingerprints {
        var items: [NodeFingerprints.Item: [Int: Digest256]] = [:]
        for row in try transaction.query("SELECT \(Self.columns) FROM key_fingerprints ORDER BY item, version") {
            let (name, version, digest) = try Self.columns.read(row)
            guard let item = NodeFingerprints.Item(rawValue: name) else { continue }
            items[item, default: [:]][version] = digest
        }
        return NodeFingerprints(items: items, policies: [:])
    }

    /// Records the versions that are not recorded yet.
    func add(_ fingerprints: NodeFingerprints) throws {
        for item in Self.recorded {
            for (version, digest) in fingerprints.items[item, default: [:]].sorted(by: { $0.key < $1.key }) {
                try transaction.execute(
                    """
                    INSERT INTO key_fingerprints (\(Self.columns)) VALUES (\(Self.columns.placeholders))
                    ON CONFLICT (item, version) DO NOTHING
                    """, Self.columns.row(item.rawValue, version, digest))
            }
        }
    }
}
