import Database
import Domain
import Foundation

/// Devices: their ids in certificates, and their presence keys.
package struct DeviceRepository {
    private let transaction: any Transaction
}

package extension DeviceRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<DeviceID>("id"), Column<String?>("user_agent"), Column<String?>("presence_key"),
        Column<Date>("created_at"))

    /// Inserts a device; `false` if the id is taken.
    ///
    /// - Parameter presenceKey: the SubjectPublicKeyInfo PEM of a key that requires the user's presence.
    func insert(_ id: DeviceID, userAgent: String?, presenceKey: String?, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO devices (\(Self.columns), held) VALUES (\(Self.columns.placeholders), 0)
            ON CONFLICT (id) DO NOTHING
            """, Self.columns.row(id, userAgent, presenceKey, time)) > 0
    }

    private static let line = ColumnTuple(
        Column<DeviceID>("id"), Column<Date>("created_at"), Column<String?>("user_agent"),
        Column<DeviceAttestation.Level?>("(SELECT level FROM device_attestations WHERE device_id = devices.id)"),
        Column<Bool>("CASE WHEN presence_key IS NULL THEN 0 ELSE 1 END"),
        Column<Int>(
            """
            (SELECT COUNT(*) FROM certificates
             WHERE device_id = devices.id AND revoked_at IS NULL AND not_after > $1)
            """),
        Column<Int>(
            """
            (SELECT COUNT(*) FROM (
                SELECT 1 FROM sessions
                WHERE device_id = devices.id AND state <> 'unauthenticated' AND \(GenerationRepository.isCurrent("sessions"))
                LIMIT \(BoundedCount.most + 1)) AS open)
            """))

    private static let newest = NewestFirst(table: "devices", key: "id", time: "created_at")

    /// The condition for devices with an attestation; empty for any. Devices are read in their order until a page is
    /// full: as a join, PostgreSQL would read all attestations first. The words are ours, not the caller's.
    private static func has(_ attestation: DeviceAttestation.Level?) -> String {
        guard let attestation else { return "" }
        return """
            COALESCE(
                (SELECT level FROM device_attestations WHERE device_id = devices.id),
                '\(DeviceAttestation.Level.unattested.rawValue)') = '\(attestation.rawValue)' AND
            """
    }

    /// The newest devices.
    ///
    /// - Parameters:
    ///   - attestation: what the makers of the devices attested; `nil` for any.
    ///   - cursor: the id of the last device of the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the cursor's row was deleted.
    func list(
        _ attestation: DeviceAttestation.Level? = nil, limit: Int, after cursor: String? = nil
    ) throws -> [DeviceSummary] {
        let page = Self.newest.page(from: 3)
        return try transaction.query(
            "SELECT \(Self.line) FROM devices WHERE \(Self.has(attestation)) \(page.condition) \(page.order) LIMIT $2",
            [.time(transaction.now), Value(limit)] + Self.newest.place(behind: cursor, in: transaction)
        ).map(Self.summary)
    }

    /// The newest devices with a present or past session of a user; pages as in `list(_:limit:after:)`.
    func list(
        of user: UserID, _ attestation: DeviceAttestation.Level? = nil, limit: Int, after cursor: String? = nil
    ) throws -> [DeviceSummary] {
        let page = Self.newest.page(from: 4)
        return try transaction.query(
            """
            SELECT \(Self.line) FROM devices WHERE \(Self.has(attestation)) id IN (
                SELECT s.device_id FROM sessions s WHERE s.user_id = $3 AND \(GenerationRepository.wasOpened("s")))
                AND \(page.condition)
            \(page.order) LIMIT $2
            """,
            [.time(transaction.now), Value(limit), .id(user)] + Self.newest.place(behind: cursor, in: transaction)
        ).map(Self.summary)
    }

    /// A device; `nil` if it was never certified.
    func find(_ id: DeviceID) throws -> DeviceSummary? {
        try transaction.first(
            "SELECT \(Self.line) FROM devices WHERE id = $2", [.time(transaction.now), .id(id)]
        ).map(Self.summary)
    }

    private static func summary(_ row: Row) throws -> DeviceSummary {
        let (id, createdAt, userAgent, attestation, hasPresenceKey, certificates, sessions) = try line.read(row)
        return DeviceSummary(
            id: id, createdAt: createdAt, userAgent: userAgent, attestation: attestation ?? .unattested,
            hasPresenceKey: hasPresenceKey,
            certificates: certificates, sessions: sessions)
    }

    /// The SubjectPublicKeyInfo PEM of a device's presence key; `nil` if there is none.
    func presenceKey(of id: DeviceID) throws -> String? {
        try transaction.value("SELECT presence_key FROM devices WHERE id = $1", [.id(id)], as: String?.self) ?? nil
    }

    func exists(_ id: DeviceID) throws -> Bool {
        try transaction.first("SELECT 1 FROM devices WHERE id = $1", [.id(id)]) != nil
    }
}
