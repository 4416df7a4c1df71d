import Database
import Foundation
import Identity

/// Devices: the names that certificates carry, and the key that proves a user's presence at one.
public struct DeviceRecords {
    private let transaction: any Transaction

    /// Works inside a transaction.
    public init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Takes a device id; `false` where it is taken already.
    ///
    /// - Parameter presenceKey: the SubjectPublicKeyInfo PEM of a key that only a present user can use.
    public func insert(_ id: DeviceID, userAgent: String?, presenceKey: String?, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO devices (id, user_agent, presence_key, created_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (id) DO NOTHING
            """, [.id(id), .optional(userAgent), .optional(presenceKey), .time(time)]) > 0
    }

    /// The SubjectPublicKeyInfo PEM of a device's presence key; `nil` where it registered none.
    public func presenceKey(of id: DeviceID) throws -> String? {
        try transaction.first("SELECT presence_key FROM devices WHERE id = $1", [.id(id)])?.textOrNull(0)
    }
}
