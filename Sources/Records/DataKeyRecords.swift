import Database
import Foundation
import Identity

/// Data keys, one for each user who has personal data here, wrapped under a wrapping key of some version.
public struct DataKeyRecords {
    private let transaction: any Transaction
    private let keys: PersonalKeys

    /// Works inside a transaction, with the keys that data keys are wrapped under.
    public init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A user's data key; `nil` where there is none, or none any more.
    ///
    /// - Throws: ``SealingFailure`` where the wrapping key is not at hand or the row was tampered with.
    public func find(_ user: UserID) throws -> DataKey? {
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
    public func findOrCreate(_ user: UserID, at time: Date) throws -> DataKey {
        if let key = try find(user) { return key }
        let key = DataKey.generate()
        let version = keys.currentWrappingVersion
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
    public func erase(_ user: UserID, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            UPDATE data_keys SET wrapped = NULL, wrapping_version = NULL, erased_at = $2
            WHERE user_id = $1 AND wrapped IS NOT NULL
            """,
            [.id(user), .time(time)]) > 0
    }

    /// When a user's key was erased; `nil` for a user who has one or never had any.
    public func erasedAt(_ user: UserID) throws -> Date? {
        try transaction.first("SELECT erased_at FROM data_keys WHERE user_id = $1", [.id(user)])?.timeOrNull(0)
    }

    /// Wraps some of the data keys that lie under another version of the wrapping key under the current one.
    ///
    /// - Parameter limit: how many at most: it bounds how long other writers wait.
    /// - Returns: how many were wrapped anew; fewer than `limit` when none is left.
    public func rewrap(limit: Int) throws -> Int {
        let current = keys.currentWrappingVersion
        let wrappingKey = try keys.wrappingKey(current)
        let rows = try transaction.query(
            """
            SELECT user_id, wrapped, wrapping_version FROM data_keys
            WHERE wrapping_version < $1 ORDER BY wrapping_version, user_id LIMIT $2
            """,
            [Value(current), Value(limit)])
        for row in rows {
            let user: UserID = try row.id(0)
            let version = try row.integer(2)
            let key = try open(try row.bytes(1), version: version, of: user)
            try transaction.execute(
                "UPDATE data_keys SET wrapped = $2, wrapping_version = $3 WHERE user_id = $1 AND wrapping_version = $4",
                [
                    .id(user),
                    .bytes(try key.wrapped(under: wrappingKey, version: current, row: user.description)),
                    Value(current), .integer(version),
                ])
        }
        return rows.count
    }

    /// How many data keys lie under each version of the wrapping key.
    public func countByVersion() throws -> [Int: Int] {
        let rows = try transaction.query(
            """
            SELECT wrapping_version, count(*) FROM data_keys WHERE wrapping_version IS NOT NULL
            GROUP BY wrapping_version
            """)
        return Dictionary(
            try rows.map { (Int(try $0.integer(0)), Int(try $0.integer(1))) }, uniquingKeysWith: { first, _ in first })
    }

    private func open(_ wrapped: [UInt8], version: Int64, of user: UserID) throws -> DataKey {
        let version = Int(version)
        return try DataKey(
            wrapped: wrapped, under: try keys.wrappingKey(version), version: version, row: user.description)
    }
}
