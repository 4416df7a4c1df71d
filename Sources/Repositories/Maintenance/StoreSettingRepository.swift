import Database
import Domain
import Encoding
import Foundation

/// What is said of a store as a whole, and goes wherever it goes: into backups, copies and restored stores.
package struct StoreSettingRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(Column<String>("name"), Column<String>("value"))
    private static let mode = "mode"
    private static let development = "development"
    private static let cell = "cell"
    private static let backup = "backup_at"
    private static let counts = "counts"

    /// What makes a store one that holds something. Digests of keys are there as soon as any node has joined.
    private static let held: KeyValuePairs = [
        "key_fingerprints": "item", ClusterMemberRepository.table: "id", "providers": "id", "devices": "id",
        "users": "id",
        "audit_entries": "id",
    ]

    /// Whether the store is one of development mode, where a known code proves a test number.
    package func isDevelopment() throws -> Bool {
        try transaction.value("SELECT value FROM store_settings WHERE name = $1", [.text(Self.mode)])
            == Self.development
    }

    /// Marks an empty store as one of development mode. Nothing takes the mark away.
    ///
    /// - Returns: whether the store is marked now; `false` for one that holds anything and is not.
    package func markDevelopment() throws -> Bool {
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
}

extension StoreSettingRepository {
    /// The cell of the store; `nil` for one that no command has used since its schema was created.
    package func cell() throws -> Cell? {
        let text: String? = try transaction.value(
            "SELECT value FROM store_settings WHERE name = $1", [.text(Self.cell)])
        return text.flatMap { Cell($0) }
    }

    /// Gives a store its cell, unless it has one.
    package func claim(_ cell: Cell) throws {
        try transaction.execute(
            """
            INSERT INTO store_settings (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (name) DO NOTHING
            """, Self.columns.row(Self.cell, cell.description))
    }

    /// When the store was made, by its schema's first step; `nil` for one without a schema.
    package func begunAt() throws -> Date? {
        let seconds: Int? = try transaction.value("SELECT MIN(applied_at) FROM schema_migrations")
        return seconds.map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// When the store was last backed up by this program; `nil` if it never was.
    package func lastBackup() throws -> Date? {
        let text: String? = try transaction.value(
            "SELECT value FROM store_settings WHERE name = $1", [.text(Self.backup)])
        return text.flatMap { Int64($0) }.map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// Notes that the store was backed up now.
    package func noteBackup() throws {
        try set(Self.backup, String(Int64(saturating: transaction.now.timeIntervalSince1970)))
    }

    /// The last whole count of the store's rows; `nil` if there was none.
    package func lastCounts() throws -> StoreCounts? {
        let text: String? = try transaction.value(
            "SELECT value FROM store_settings WHERE name = $1", [.text(Self.counts)])
        return text.flatMap { StoreCounts(text: $0) }
    }

    /// Keeps a whole count, as one of now.
    package func keep(_ counts: StoreCounts) throws {
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
