import Database
import Domain
import Encoding
import Foundation

/// What an action of a session is decided from, read in one statement of the transaction that acts: what was decided
/// when the request began may be over since, for its body may have been held back.
package struct HolderRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// What the store holds at one moment.
    package struct Holder: Sendable {
        /// The session, ended or not.
        package let session: Session
        package let user: User
        /// The certificate that the request came under, revoked or not; `nil` if it was never issued here.
        package let certificate: DeviceCertificate?
        /// Whether there are ban entries about the device: only then is it to be asked whether one is in force.
        package let mayDeviceBeHeld: Bool
        /// Whether there are ban entries about the user, or it is not known.
        package let mayUserBeHeld: Bool
    }

    /// Reads it; `nil` if the session is forgotten.
    ///
    /// - Parameter shown: the session as it was let in.
    package func holder(of shown: Session) throws -> Holder? {
        let row = try transaction.first(
            Self.question, [.id(shown.id), .id(shown.deviceID), shown.thumbprint.value])
        guard let row else { return nil }
        let (isDeviceHeld, isUserHeld, session, user, certificate) = try Self.answer.read(row)
        return Holder(
            session: session, user: user.user(at: transaction.now), certificate: certificate,
            mayDeviceBeHeld: isDeviceHeld, mayUserBeHeld: isUserHeld)
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
