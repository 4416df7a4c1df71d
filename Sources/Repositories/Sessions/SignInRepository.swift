import Database
import Domain
import Encoding
import Foundation

/// What opening or renewing a session is decided from, read in one statement: it is asked for so often, and perhaps
/// across a network, that each statement less is worth it.
package struct SignInRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// What the store holds at one moment.
    package struct Context: Sendable {
        /// Whether the provider's key and the provider itself are in use.
        package let mayKeyOpenSessions: Bool
        /// The connection's certificate, revoked or not; `nil` if it was never issued here.
        package let certificate: DeviceCertificate?
        /// Whether a ban ever held the device: only then is it to be asked whether one still does.
        package let wasDeviceHeld: Bool
        /// The user, if there is one already.
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
                .id(subject.keyID), .bytes(subject.deviceID.bytes), .id(subject.deviceID), mostSessions.value,
                subject.thumbprint.value, .id(subject.providerID), .text(subject.externalID),
            ])
        guard let row else { throw DamagedRow(column: 0) }
        let answer = Self.answer.each
        return Context(
            mayKeyOpenSessions: try row[answer.usableKeys] > 0,
            certificate: try answer.certificate.certificateIfFound(row),
            wasDeviceHeld: try row[answer.holdsOnDevice] > 0,
            user: try row.isNull(answer.user.id) ? nil : try answer.user.user(row, now: transaction.now),
            mayUserBeHeld: try row[answer.holdsOnUser] > 0, openSessions: try row[answer.openSessions])
    }

    /// How many ban entries there are about the user `u`, the user's number and documents; 1 if that is not known, 0 for no user.
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

    private struct Answer: ColumnSet {
        let usableKeys: Column<Int>
        let holdsOnDevice: Column<Int>
        let holdsOnUser: Column<Int>
        let openSessions: Column<Int>
        let certificate: CertificateColumns
        let user: UserColumns

        init(_ list: inout ColumnList) {
            usableKeys = list.add(
                """
                (
                    SELECT COUNT(*) FROM provider_keys k JOIN providers p ON p.id = k.provider_id
                    WHERE k.id = $1 AND k.revoked_at IS NULL AND k.retired_at IS NULL AND p.disabled_at IS NULL
                )
                """)
            holdsOnDevice = list.add("(SELECT COUNT(*) FROM ban_holds WHERE kind = 'device' AND subject = $2)")
            holdsOnUser = list.add(SignInRepository.holdsOnUser)
            openSessions = list.add(
                """
                (
                    SELECT COUNT(*) FROM (
                        SELECT 1 FROM sessions s
                        WHERE s.user_id = u.id AND s.device_id = $3 AND s.state <> 'unauthenticated' LIMIT $4
                    ) AS open
                )
                """)
            certificate = list.add(CertificateColumns.self, of: "c")
            user = list.add(UserColumns.self, of: "u")
        }
    }

    private static let answer = Selection(Answer.self)
    private static let question = """
        SELECT \(answer)
        FROM (SELECT 1 AS one) AS always
        LEFT JOIN certificates c ON c.thumbprint = $5
        LEFT JOIN users u ON u.provider_id = $6 AND u.external_id = $7
        """
}
