import Database
import Domain
import Foundation

/// Data keys, one for each user who has personal data here, wrapped under a wrapping key of some version.
package struct DataKeyRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys

    /// Works inside a transaction, with the keys that data keys are wrapped under.
    package init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A user's data key; `nil` where there is none, or none any more.
    ///
    /// - Throws: ``SealingFailure`` where the wrapping key is not at hand or the row was tampered with.
    package func find(_ user: UserID) throws -> DataKey? {
        guard
            let row = try transaction.first(
                "SELECT wrapped, wrapping_version FROM data_keys WHERE user_id = $1 AND wrapped IS NOT NULL",
                [.id(user)])
        else { return nil }
        return try open(try row.bytes(0), version: try row.integer(1), of: user)
    }

    /// A user's data key, made where there is none. A user who was erased and came back gets a new one: what lay under
    /// the old one stays closed.
    ///
    /// - Throws: ``SealingFailure``, as ``find(_:)``.
    package func findOrCreate(_ user: UserID, at time: Date) throws -> DataKey {
        if let key = try find(user) { return key }
        let key = DataKey.generate()
        let version = try versionForNewKeys()
        let wrapped = try key.wrapped(
            under: try keys.wrappingKey(version), version: version, row: user.description)
        try transaction.execute(
            """
            INSERT INTO data_keys (user_id, wrapped, wrapping_version, created_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (user_id) DO UPDATE
            SET wrapped = excluded.wrapped, wrapping_version = excluded.wrapping_version,
                created_at = excluded.created_at, erased_at = NULL
            WHERE data_keys.wrapped IS NULL
            """,
            [.id(user), .bytes(wrapped), Value(version), .time(time)])
        // Another node may have been faster: what stands in the table counts.
        return try find(user) ?? key
    }

    /// Crypto-shredding: the wrapped key is overwritten, and with it goes all that was sealed under the key. The row
    /// stays and says when. `false` where there was no key.
    @discardableResult
    package func erase(_ user: UserID, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            UPDATE data_keys SET wrapped = NULL, wrapping_version = NULL, erased_at = $2
            WHERE user_id = $1 AND wrapped IS NOT NULL
            """,
            [.id(user), .time(time)]) > 0
    }

    /// When a user's key was erased; `nil` for a user who has one or never had any.
    package func erasedAt(_ user: UserID) throws -> Date? {
        try transaction.first("SELECT erased_at FROM data_keys WHERE user_id = $1", [.id(user)])?.timeOrNull(0)
    }

    /// The version of the wrapping key that is in force: new data keys lie under it or a newer one.
    package func versionInForce() throws -> Int {
        Int(try transaction.first("SELECT max(version) FROM wrapping_versions")?.integerOrNull(0) ?? 1)
    }

    /// Puts a version in force: from now on no node wraps a new data key under an older one, whatever keys it has read,
    /// so that an older one under which nothing lies can be taken away. `false` where it was in force already.
    package func putInForce(_ version: Int, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO wrapping_versions (version, in_force_at) VALUES ($1, $2) ON CONFLICT (version) DO NOTHING
            """,
            [Value(version), .time(time)]) > 0
    }

    /// What became of some data keys that were to be wrapped anew.
    package struct Rewrapping: Sendable {
        /// How many lie under the current version now.
        package let wrapped: Int
        /// How many could not be opened, and stay as they are: their wrapping key is lost, or the row is damaged.
        package let unreadable: Int
        /// Behind which data key to go on; `nil` where none is left.
        package let mark: Mark?
    }

    /// A place in the order in which data keys are wrapped anew.
    package struct Mark: Sendable {
        let version: Int64
        let user: String
    }

    /// Wraps some of the data keys that lie under an older version of the wrapping key under the current one.
    ///
    /// - Parameters:
    ///   - mark: where the call before this one ended; `nil` for the first.
    ///   - limit: how many at most: it bounds how long other writers wait.
    package func rewrap(after mark: Mark?, limit: Int) throws -> Rewrapping {
        let current = keys.currentWrappingVersion
        let wrappingKey = try keys.wrappingKey(current)
        let rows = try transaction.query(
            """
            SELECT user_id, wrapped, wrapping_version FROM data_keys
            WHERE (wrapping_version, user_id) > ($2, $3) AND wrapping_version < $1
            ORDER BY wrapping_version, user_id LIMIT $4
            """,
            [Value(current), .integer(mark?.version ?? 0), .text(mark?.user ?? ""), Value(limit)])
        var unreadable = 0
        for row in rows {
            let user: UserID = try row.id(0)
            let version = try row.integer(2)
            let key: DataKey
            do {
                key = try open(try row.bytes(1), version: version, of: user)
            } catch is SealingFailure {
                unreadable += 1
                continue
            }
            try transaction.execute(
                "UPDATE data_keys SET wrapped = $2, wrapping_version = $3 WHERE user_id = $1 AND wrapping_version = $4",
                [
                    .id(user),
                    .bytes(try key.wrapped(under: wrappingKey, version: current, row: user.description)),
                    Value(current), .integer(version),
                ])
        }
        let last = try rows.last.map { Mark(version: try $0.integer(2), user: try $0.text(0)) }
        return Rewrapping(
            wrapped: rows.count - unreadable, unreadable: unreadable, mark: rows.count < limit ? nil : last)
    }

    /// How many data keys lie under each version of the wrapping key.
    package func countByVersion() throws -> [Int: Int] {
        let rows = try transaction.query(
            """
            SELECT wrapping_version, count(*) FROM data_keys WHERE wrapping_version IS NOT NULL
            GROUP BY wrapping_version
            """)
        return Dictionary(
            try rows.map { (Int(try $0.integer(0)), Int(try $0.integer(1))) }, uniquingKeysWith: { first, _ in first })
    }

    /// A node whose keys are older than what is in force reads them again before it wraps anything new.
    private func versionForNewKeys() throws -> Int {
        let inForce = try versionInForce()
        if keys.currentWrappingVersion < inForce { try keys.reload() }
        let current = keys.currentWrappingVersion
        guard current >= inForce else { throw SealingFailure.unknownVersion(inForce) }
        return current
    }

    private func open(_ wrapped: [UInt8], version: Int64, of user: UserID) throws -> DataKey {
        let version = Int(version)
        return try DataKey(
            wrapped: wrapped, under: try keys.wrappingKey(version), version: version, row: user.description)
    }
}
