import Database
import Domain
import Encoding
import Foundation

/// Settings of the store as a whole. Backups, copies and restored stores keep them.
package struct StoreSettingRepository {
    private let transaction: any Transaction
}

package extension StoreSettingRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(Column<String>("name"), Column<String>("value"))
    private static let mode = "mode"
    private static let development = "development"
    private static let cell = "cell"
    private static let backup = "backup_at"
    private static let counts = "counts"

    /// The tables that make a store not empty. Digests of keys are not among them, because they exist as soon as any
    /// node has joined.
    private static let held: KeyValuePairs = [
        "key_fingerprints": "item", ClusterMemberRepository.table: "id", "providers": "id", "devices": "id",
        "users": "id",
        "audit_entries": "id",
    ]

    /// Whether the store was created in development mode, in which a known code proves its test numbers.
    func isDevelopment() throws -> Bool {
        try transaction.value("SELECT value FROM store_settings WHERE name = $1", [.text(Self.mode)])
            == Self.development
    }

    /// Marks an empty store for development mode, permanently.
    ///
    /// - Returns: whether the store is marked now; `false` for an unmarked store that is not empty.
    func markDevelopment() throws -> Bool {
        if try isDevelopment() { return true }
        for (table, key) in Self.held {
            let first = try transaction.value("SELECT MIN(\(key)) FROM \(table)", as: String?.self)
            guard (first ?? nil) == nil else { return false }
        }
        try transaction.execute(
            "INSERT INTO store_settings (\(Self.columns)) VALUES (\(Self.columns.placeholders))",
            Self.columns.row(Self.mode, Self.development))
        return true
    }

    /// The cell of the store; `nil` if no command has used the store since its schema was created.
    func cell() throws -> Cell? {
        let text: String? = try transaction.value(
            "SELECT value FROM store_settings WHERE name = $1", [.text(Self.cell)])
        return text.flatMap { Cell($0) }
    }

    /// Gives a store its cell, unless it has one.
    func claim(_ cell: Cell) throws {
        try transaction.execute(
            """
            INSERT INTO store_settings (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (name) DO NOTHING
            """, Self.columns.row(Self.cell, cell.description))
    }

    /// When the store was created, by its schema's first step; `nil` for one without a schema.
    func begunAt() throws -> Date? {
        let seconds: Int? = try transaction.value("SELECT MIN(applied_at) FROM schema_migrations")
        return seconds.map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// When the store was last backed up by this program; `nil` if it never was.
    func lastBackup() throws -> Date? {
        let text: String? = try transaction.value(
            "SELECT value FROM store_settings WHERE name = $1", [.text(Self.backup)])
        return text.flatMap { Int64($0) }.map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// Records that the store was backed up now.
    func noteBackup() throws {
        try set(Self.backup, String(Int64(saturating: transaction.now.timeIntervalSince1970)))
    }

    /// The last complete count of the store's rows; `nil` if there is none.
    func lastCounts() throws -> StoreCounts? {
        let text: String? = try transaction.value(
            "SELECT value FROM store_settings WHERE name = $1", [.text(Self.counts)])
        return text.flatMap { StoreCounts(text: $0) }
    }

    /// Stores a complete count, with the current time.
    func keep(_ counts: StoreCounts) throws {
        var counts = counts
        counts.at = transaction.now
        try set(Self.counts, counts.text)
    }

    private func set(_ name: String, _ value: String) throws {
        try transaction.execute(
            """
            INSERT INTO store_settings (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, Self.columns.row(name, value))
    }
}
