import Database
import Domain

/// Users whose providers must still be notified of a revoked certificate. The revoking transaction notifies the first
/// users itself. A device may have had sessions of any number of users.
package struct CertificateNoticeRepository {
    private let transaction: any Transaction
}

package extension CertificateNoticeRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    struct Notice: Sendable, Equatable {
        package let serial: String
        package let user: UserID
        package let provider: ProviderID
    }

    private static let columns = Table<Notice>(
        "certificate_notices", Notice.init,
        Field("serial", \.serial),
        Field("user_id", \.user),
        Field("provider_id", \.provider))

    /// Adds the users with an open session on a device whose ids follow a given one.
    func add(_ serial: String, on device: DeviceID, after user: UserID) throws {
        try transaction.execute(
            """
            INSERT INTO certificate_notices (\(Self.columns))
            SELECT DISTINCT CAST($1 AS TEXT), s.user_id, s.provider_id FROM sessions s
            WHERE s.device_id = $2 AND s.user_id > $3 AND s.state <> 'unauthenticated' AND \(GenerationRepository.isCurrent("s"))
            ON CONFLICT DO NOTHING
            """, [.text(serial), .id(device), .id(user)])
    }

    func take(limit: Int) throws -> [Notice] {
        let notices = try transaction.query(Self.columns, "ORDER BY serial, user_id LIMIT $1", [limit.value])
        for notice in notices {
            try transaction.execute(
                "DELETE FROM certificate_notices WHERE serial = $1 AND user_id = $2",
                [.text(notice.serial), .id(notice.user)])
        }
        return notices
    }
}
