import Database
import Domain
import Foundation

/// Devices: the names that certificates carry, and the key that proves a user's presence at one.
package struct DeviceRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Takes a device id; `false` where it is taken already.
    ///
    /// - Parameter presenceKey: the SubjectPublicKeyInfo PEM of a key that only a present user can use.
    package func insert(_ id: DeviceID, userAgent: String?, presenceKey: String?, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO devices (id, user_agent, presence_key, created_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (id) DO NOTHING
            """, [.id(id), .optional(userAgent), .optional(presenceKey), .time(time)]) > 0
    }

    /// A device as admins see it.
    package struct Line: Sendable {
        package let id: DeviceID
        /// When it was certified first.
        package let createdAt: Date
        /// What it said of its software, where it did.
        package let userAgent: String?
        /// Its certificates that were not revoked and have not run out.
        package let certificates: Int
        /// Its sessions that were not ended; the clock may have ended some.
        package let sessions: Int
    }

    /// The newest devices.
    package func list(limit: Int) throws -> [Line] {
        try transaction.query(
            """
            SELECT id, created_at, user_agent,
                (SELECT COUNT(*) FROM certificates
                 WHERE device_id = devices.id AND revoked_at IS NULL AND not_after > $1),
                (SELECT COUNT(*) FROM sessions WHERE device_id = devices.id AND state <> 'unauthenticated')
            FROM devices ORDER BY created_at DESC, id LIMIT $2
            """, [.time(transaction.now), Value(limit)]
        ).map {
            Line(
                id: try $0.id(0), createdAt: try $0.time(1), userAgent: try $0.textOrNull(2),
                certificates: Int(try $0.integer(3)), sessions: Int(try $0.integer(4)))
        }
    }

    /// The SubjectPublicKeyInfo PEM of a device's presence key; `nil` where it registered none.
    package func presenceKey(of id: DeviceID) throws -> String? {
        try transaction.first("SELECT presence_key FROM devices WHERE id = $1", [.id(id)])?.textOrNull(0)
    }

    /// Whether a device was ever certified.
    package func exists(_ id: DeviceID) throws -> Bool {
        try transaction.first("SELECT 1 FROM devices WHERE id = $1", [.id(id)]) != nil
    }
}
