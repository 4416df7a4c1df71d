import Database
import Domain
import Foundation

/// Data keys, one for each user with personal data in the store, wrapped under a wrapping key of some version.
package struct DataKeyRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys

    /// A node whose keys are older than the version in force reloads them before it wraps a new key.
    func versionForNewKeys() throws -> Int {
        let inForce = try versionInForce()
        if keys.currentWrappingVersion < inForce { try keys.reload() }
        let current = keys.currentWrappingVersion
        guard current >= inForce else { throw SealingFailure.unknownVersion(inForce) }
        return current
    }

    func open(_ wrapped: [UInt8], version: Int, of user: UserID) throws -> DataKey {
        try DataKey(
            wrapped: wrapped, under: try keys.wrappingKey(version), version: version, row: user.description)
    }
}

package extension DataKeyRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    private static let wrapping = ColumnTuple(Column<[UInt8]>("wrapped"), Column<Int>("wrapping_version"))
    private static let created = ColumnTuple(
        Column<UserID>("user_id"), Column<[UInt8]>("wrapped"), Column<Int>("wrapping_version"))

    /// A user's data key; `nil` if there is none, or if it was erased.
    ///
    /// - Throws: ``SealingFailure`` if the wrapping key is missing or the row was tampered with.
    func find(_ user: UserID) throws -> DataKey? {
        guard
            let row = try transaction.first(
                "SELECT \(Self.wrapping) FROM data_keys WHERE user_id = $1 AND wrapped IS NOT NULL", [.id(user)])
        else { return nil }
        let (wrapped, version) = try Self.wrapping.read(row)
        return try open(wrapped, version: version, of: user)
    }

    /// A user's data key, created if there is none. A user who returns after an erasure gets a new one; data under
    /// the old key stays unreadable.
    ///
    /// - Throws: ``SealingFailure``, as ``find(_:)``.
    func findOrCreate(_ user: UserID) throws -> DataKey {
        if let key = try find(user) { return key }
        let key = DataKey.generate()
        let version = try versionForNewKeys()
        let wrapped = try key.wrapped(
            under: try keys.wrappingKey(version), version: version, row: user.description)
        try transaction.enqueue(
            """
            INSERT INTO data_keys (\(Self.created)) VALUES (\(Self.created.placeholders))
            ON CONFLICT (user_id) DO UPDATE
            SET wrapped = excluded.wrapped, wrapping_version = excluded.wrapping_version, erased_at = NULL
            WHERE data_keys.wrapped IS NULL
            """,
            Self.created.row(user, wrapped, version))
        // If two transactions find none at once, an engine with several writers rolls one back. It runs again and finds
        // the key.
        return key
    }

    /// Crypto-shredding: overwrites the wrapped key, so that all data sealed under it is lost. The row stays with the
    /// time of the erasure. Returns `false` if there was no key.
    @discardableResult
    func erase(_ user: UserID, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            UPDATE data_keys SET wrapped = NULL, wrapping_version = NULL, erased_at = $2
            WHERE user_id = $1 AND wrapped IS NOT NULL
            """,
            [.id(user), .time(time)]) > 0
    }

    /// When a user's key was erased; `nil` for a user who has one or never had any.
    func erasedAt(_ user: UserID) throws -> Date? {
        try transaction.value("SELECT erased_at FROM data_keys WHERE user_id = $1", [.id(user)], as: Date?.self) ?? nil
    }

    /// The version in force: new data keys are wrapped under this wrapping key or a newer one.
    func versionInForce() throws -> Int {
        try transaction.value("SELECT COALESCE(MAX(version), 1) FROM wrapping_versions") ?? 1
    }

    /// Puts a version into force: no node then wraps a new data key under an older version, whatever keys it has
    /// loaded. An unused older version can then be removed. `false` if the version was in force already.
    func putInForce(_ version: Int) throws -> Bool {
        try transaction.execute(
            "INSERT INTO wrapping_versions (version) VALUES ($1) ON CONFLICT (version) DO NOTHING", [version.value]) > 0
    }

    private static let rewrapped = ColumnTuple(
        Column<UserID>("user_id"), Column<[UInt8]>("wrapped"), Column<Int>("wrapping_version"))

    /// A position in the order in which data keys are wrapped again.
    struct Mark: Sendable {
        let version: Int
        let user: UserID
    }

    /// Wraps some of the data keys under older versions again, under the current version.
    ///
    /// - Parameters:
    ///   - mark: the position from the previous call; `nil` for the first.
    ///   - limit: the largest number, which limits how long other writers wait.
    /// - Returns: how many keys were wrapped, how many could not be opened, and the position after which to continue, `nil` if
    ///   no key is left. A key that cannot be opened stays unchanged: the wrapping key is lost, or the row is damaged.
    func rewrap(after mark: Mark?, limit: Int) throws -> (wrapped: Int, unreadable: Int, mark: Mark?) {
        let current = keys.currentWrappingVersion
        let wrappingKey = try keys.wrappingKey(current)
        let rows = try transaction.query(
            """
            SELECT \(Self.rewrapped) FROM data_keys
            WHERE (wrapping_version, user_id) > ($2, $3) AND wrapping_version < $1
            ORDER BY wrapping_version, user_id LIMIT $4
            """,
            [current.value, (mark?.version ?? 0).value, .text(mark?.user.description ?? ""), limit.value]
        ).map(Self.rewrapped.read)
        var unreadable = 0
        for (user, wrapped, version) in rows {
            let key: DataKey
            do {
                key = try open(wrapped, version: version, of: user)
            } catch is SealingFailure {
                unreadable += 1
                continue
            }
            try transaction.execute(
                "UPDATE data_keys SET wrapped = $2, wrapping_version = $3 WHERE user_id = $1 AND wrapping_version = $4",
                [
                    .id(user),
                    .bytes(try key.wrapped(under: wrappingKey, version: current, row: user.description)),
                    current.value, version.value,
                ])
        }
        let last = rows.last.map { Mark(version: $0.2, user: $0.0) }
        return (rows.count - unreadable, unreadable, rows.count < limit ? nil : last)
    }

    /// The number of data keys under each version of the wrapping key.
    func countByVersion() throws -> [Int: Int] {
        let counts = ColumnTuple(Column<Int>("wrapping_version"), Column<Int>("COUNT(*)"))
        let rows = try transaction.query(
            "SELECT \(counts) FROM data_keys WHERE wrapping_version IS NOT NULL GROUP BY wrapping_version")
        return Dictionary(try rows.map(counts.read), uniquingKeysWith: { first, _ in first })
    }
}
