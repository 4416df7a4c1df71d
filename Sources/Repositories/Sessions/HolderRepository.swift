import Database
import Domain
import Encoding
import Foundation

/// What an action of a session is decided from, read in one statement of the transaction that acts: whatever was judged
/// when the request began may be over since, for its body may have been held back.
package struct HolderRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// What stands in the store at one moment.
    package struct Holder: Sendable {
        /// The session, ended or not.
        package let session: Session
        package let user: User
        /// The certificate that the request came under, revoked or not; `nil` where it was never issued here.
        package let certificate: DeviceCertificate?
        /// Whether a ban ever held the device: then it is to be asked whether one still does.
        package let wasDeviceHeld: Bool
        /// Whether a ban ever held the user, the user's number or document, or it is not known.
        package let mayUserBeHeld: Bool
    }

    /// Reads it; `nil` where the session is forgotten.
    ///
    /// - Parameter shown: the session as it was let in.
    package func holder(of shown: Session) throws -> Holder? {
        let row = try transaction.first(
            Self.question,
            [.id(shown.id), .bytes(shown.deviceID.bytes), .bytes(shown.thumbprint.bytes)])
        guard let row else { return nil }
        let session = 2
        let user = session + SessionRepository.columnNames.count
        let certificate = user + UserRepository.columnNames.count
        return Holder(
            session: try SessionRepository.session(row, from: session),
            user: try UserRepository.user(row, from: user, now: transaction.now),
            certificate: try row.textOrNull(certificate) == nil
                ? nil : try CertificateRepository.certificate(row, from: certificate),
            wasDeviceHeld: try row.integer(0) > 0, mayUserBeHeld: try row.integer(1) > 0)
    }

    private static let question = """
        SELECT
            (SELECT COUNT(*) FROM ban_holds WHERE kind = 'device' AND subject = $2),
            \(SignInRepository.holdsOnUser),
            \(SessionRepository.columnNames.map { "s.\($0)" }.joined(separator: ", ")),
            \(UserRepository.columnNames.map { "u.\($0)" }.joined(separator: ", ")),
            \(CertificateRepository.columnNames.map { "c.\($0)" }.joined(separator: ", "))
        FROM sessions s
        JOIN users u ON u.id = s.user_id
        LEFT JOIN certificates c ON c.thumbprint = $3
        WHERE s.id = $1
        """
}
