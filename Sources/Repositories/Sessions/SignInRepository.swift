import Database
import Domain
import Encoding
import Foundation

/// What opening or renewing a session is decided from, read in one statement: it is asked for so often, and perhaps
/// across a network, that each statement less counts.
package struct SignInRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// What stands in the store at one moment.
    package struct Context: Sendable {
        /// Whether the provider's key and the provider itself count.
        package let mayKeyOpenSessions: Bool
        /// The connection's certificate, revoked or not; `nil` where it was never issued here.
        package let certificate: DeviceCertificate?
        /// Whether a ban ever held the device: then it is to be asked whether one still does.
        package let wasDeviceHeld: Bool
        /// The user, where there is one already.
        package let user: User?
        /// Whether a ban ever held the user, the user's number or document, or it is not known.
        package let mayUserBeHeld: Bool
        /// The user's sessions on the device that were not ended, counted no further than asked.
        package let openSessions: Int
    }

    /// Whom and what a sign-in names.
    package struct Subject: Sendable {
        let keyID: ProviderKeyID
        let thumbprint: Digest256
        let deviceID: DeviceID
        let providerID: ProviderID
        let externalID: String

        /// By the verified identity token and the certificate of the connection.
        package init(
            keyID: ProviderKeyID, thumbprint: Digest256, deviceID: DeviceID, providerID: ProviderID,
            externalID: String
        ) {
            self.keyID = keyID
            self.thumbprint = thumbprint
            self.deviceID = deviceID
            self.providerID = providerID
            self.externalID = externalID
        }
    }

    /// Reads it.
    ///
    /// - Parameter mostSessions: where counting the open sessions ends.
    package func context(of subject: Subject, mostSessions: Int) throws -> Context {
        let row = try transaction.first(
            Self.question,
            [
                .id(subject.keyID), .bytes(subject.deviceID.bytes), .id(subject.deviceID),
                .integer(Int64(mostSessions)), .bytes(subject.thumbprint.bytes), .id(subject.providerID),
                .text(subject.externalID),
            ])
        guard let row else { throw DamagedRow(column: 0) }
        let (certificate, user) = (4, 4 + CertificateRepository.columnNames.count)
        return Context(
            mayKeyOpenSessions: try row.integer(0) > 0,
            certificate: try row.textOrNull(certificate) == nil
                ? nil : try CertificateRepository.certificate(row, from: certificate),
            wasDeviceHeld: try row.integer(1) > 0,
            user: try row.textOrNull(user) == nil
                ? nil : try UserRepository.user(row, from: user, now: transaction.now),
            mayUserBeHeld: try row.integer(2) > 0, openSessions: Int(try row.integer(3)))
    }

    /// How many holds lie on the user `u`, the user's number and documents; 1 where it is not known, 0 for no user.
    static let holdsOnUser = """
        CASE WHEN u.id IS NULL THEN 0 WHEN u.subject IS NULL THEN 1 ELSE
            (SELECT COUNT(*) FROM ban_holds h WHERE h.kind = 'user' AND h.subject = u.subject)
            + (
                SELECT COUNT(*) FROM authenticated_users a
                JOIN ban_holds h ON h.kind = 'phone' AND h.subject = a.phone_index WHERE a.user_id = u.id
            ) + (
                SELECT COUNT(*) FROM identity_cards i
                JOIN ban_holds h ON h.kind = 'document' AND h.subject = i.document_index WHERE i.user_id = u.id
            )
        END
        """

    private static let question = """
        SELECT
            (
                SELECT COUNT(*) FROM provider_keys k JOIN providers p ON p.id = k.provider_id
                WHERE k.id = $1 AND k.revoked_at IS NULL AND k.retired_at IS NULL AND p.disabled_at IS NULL
            ),
            (SELECT COUNT(*) FROM ban_holds WHERE kind = 'device' AND subject = $2),
            \(holdsOnUser),
            (
                SELECT COUNT(*) FROM (
                    SELECT 1 FROM sessions s
                    WHERE s.user_id = u.id AND s.device_id = $3 AND s.state <> 'unauthenticated' LIMIT $4
                ) AS open
            ),
            \(CertificateRepository.columnNames.map { "c.\($0)" }.joined(separator: ", ")),
            \(UserRepository.columnNames.map { "u.\($0)" }.joined(separator: ", "))
        FROM (SELECT 1 AS one) AS always
        LEFT JOIN certificates c ON c.thumbprint = $5
        LEFT JOIN users u ON u.provider_id = $6 AND u.external_id = $7
        """
}
