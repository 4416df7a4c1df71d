import Database
import Domain
import Encoding
import Foundation

/// The data for deciding to open or renew a session, read in one statement. It is read so often, and perhaps across a
/// network, that each saved statement matters.
package struct SignInRepository {
    private let transaction: any Transaction
}

package extension SignInRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The stored data at one time.
    struct Context: Sendable {
        /// Whether the provider's key and the provider itself are in use.
        package let mayKeyOpenSessions: Bool
        /// The connection's certificate, revoked or not; `nil` if it was never issued here.
        package let certificate: DeviceCertificate?
        /// Whether there may be ban entries on the device. Only then are they read.
        package let mayDeviceBeBanned: Bool
        /// The user, if one exists already.
        package let user: User?
        /// Whether there may be ban entries on the user, or this is unknown.
        package let mayUserBeBanned: Bool
        /// The generations for the session's row.
        package let generations: SessionGenerations
        /// The user's sessions on the device that were not ended, counted up to a limit.
        package let openSessions: Int
        /// The store's generation of nonces.
        package let nonceGeneration: String
    }

    /// The subjects of a sign-in.
    struct Subject: Sendable {
        let keyID: ProviderKeyID
        let thumbprint: Digest256
        let deviceID: DeviceID
        let providerID: ProviderID
        let externalID: String

        /// From the verified identity token and the connection's certificate.
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
    /// - Parameter mostSessions: the maximum to which open sessions are counted.
    func context(of subject: Subject, mostSessions: Int) throws -> Context {
        let row = try transaction.first(
            Self.question,
            [
                .id(subject.keyID), .id(subject.deviceID), mostSessions.value, subject.thumbprint.value,
                .id(subject.providerID), .text(subject.externalID),
            ])
        guard let row else { throw DamagedRow(column: 0) }
        let (
            isKeyUsable, isDeviceHeld, isUserHeld, userGeneration, deviceGeneration, providerGeneration, keyGeneration,
            openSessions, nonceGeneration, certificate, user
        ) = try Self.answer.read(row)
        return Context(
            mayKeyOpenSessions: isKeyUsable, certificate: certificate, mayDeviceBeBanned: isDeviceHeld,
            user: user?.user(at: transaction.now), mayUserBeBanned: isUserHeld,
            generations: SessionGenerations(
                user: userGeneration, device: deviceGeneration, provider: providerGeneration, key: keyGeneration),
            openSessions: openSessions, nonceGeneration: nonceGeneration)
    }

    private static let answer = ColumnTuple(
        Column<Bool>(
            """
            CASE WHEN k.revoked_at IS NULL AND k.retired_at IS NULL AND p.disabled_at IS NULL
                AND k.provider_id = p.id THEN 1 ELSE 0 END
            """),
        Column<Bool>("COALESCE(d.held, 0)"), Column<Bool>("COALESCE(u.held, 0)"),
        Column<Int64>("COALESCE(u.generation, 0)"), Column<Int64>("COALESCE(d.generation, 0)"),
        Column<Int64>("COALESCE(p.generation, 0)"), Column<Int64>("COALESCE(k.generation, 0)"),
        Column<Int>(
            """
            (
                SELECT COUNT(*) FROM (
                    SELECT 1 FROM sessions s
                    WHERE s.user_id = u.id AND s.device_id = $2 AND s.state <> 'unauthenticated'
                        AND \(GenerationRepository.isCurrent("s")) LIMIT $3
                ) AS open
            )
            """),
        Column<String>(NonceRepository.generation),
        CertificateRepository.columns.of("c").ifFound, UserRow.columns.of("u").ifFound)
    private static let question = """
        SELECT \(answer)
        FROM (SELECT 1 AS one) AS always
        LEFT JOIN provider_keys k ON k.id = $1
        LEFT JOIN devices d ON d.id = $2
        LEFT JOIN certificates c ON c.thumbprint = $4
        LEFT JOIN providers p ON p.id = $5
        LEFT JOIN users u ON u.provider_id = $5 AND u.external_id = $6
        """
}
