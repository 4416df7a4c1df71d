import Database
import Domain
import Encoding
import Foundation

/// The data for deciding an action of a session, read in one statement of the acting transaction. What was valid when
/// the request started may have ended since, because its body may have arrived late.
package struct HolderRepository {
    private let transaction: any Transaction
}

package extension HolderRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The stored data at one time.
    struct Holder: Sendable {
        /// The session, ended or not.
        package let session: Session
        package let user: User
        /// The certificate of the request's connection, revoked or not; `nil` if it was never issued here.
        package let certificate: DeviceCertificate?
        /// Whether there may be ban entries on the device. Only then are they read.
        package let mayDeviceBeBanned: Bool
        /// Whether there may be ban entries on the user, or this is unknown.
        package let mayUserBeBanned: Bool
    }

    /// Reads it; `nil` if the session's row was deleted.
    ///
    /// - Parameter shown: the session that the request was admitted for.
    func holder(of shown: Session) throws -> Holder? {
        let row = try transaction.first(
            Self.question, [.id(shown.id), .id(shown.deviceID), shown.thumbprint.value])
        guard let row else { return nil }
        let (isDeviceHeld, isUserHeld, session, user, certificate) = try Self.answer.read(row)
        return Holder(
            session: session, user: user.user(at: transaction.now), certificate: certificate,
            mayDeviceBeBanned: isDeviceHeld, mayUserBeBanned: isUserHeld)
    }

    private static let answer = ColumnTuple(
        Column<Bool>("COALESCE(d.held, 0)"), Column<Bool>("u.held"), SessionRepository.columns.of("s"),
        UserRow.columns.of("u"), CertificateRepository.columns.of("c").ifFound)
    private static let question = """
        SELECT \(answer)
        FROM sessions s
        JOIN users u ON u.id = s.user_id
        LEFT JOIN devices d ON d.id = $2
        LEFT JOIN certificates c ON c.thumbprint = $3
        WHERE s.id = $1
        """
}
