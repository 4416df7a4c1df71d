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
        /// Whether a ban ever held the device: only then is it to be asked whether one still does.
        package let wasDeviceHeld: Bool
        /// Whether a ban ever held the user, the user's number or document, or it is not known.
        package let mayUserBeHeld: Bool
    }

    /// Reads it; `nil` if the session is forgotten.
    ///
    /// - Parameter shown: the session as it was let in.
    package func holder(of shown: Session) throws -> Holder? {
        let row = try transaction.first(
            Self.question, [.id(shown.id), .bytes(shown.deviceID.bytes), shown.thumbprint.value])
        guard let row else { return nil }
        let answer = Self.answer.each
        return Holder(
            session: try answer.session.session(row),
            user: try answer.user.user(row, now: transaction.now),
            certificate: try answer.certificate.certificateIfFound(row),
            wasDeviceHeld: try row[answer.holdsOnDevice] > 0, mayUserBeHeld: try row[answer.holdsOnUser] > 0)
    }

    private struct Answer: ColumnSet {
        let holdsOnDevice: Column<Int>
        let holdsOnUser: Column<Int>
        let session: SessionColumns
        let user: UserColumns
        let certificate: CertificateColumns

        init(_ list: inout ColumnList) {
            holdsOnDevice = list.add("(SELECT COUNT(*) FROM ban_holds WHERE kind = 'device' AND subject = $2)")
            holdsOnUser = list.add(SignInRepository.holdsOnUser)
            session = list.add(SessionColumns.self, of: "s")
            user = list.add(UserColumns.self, of: "u")
            certificate = list.add(CertificateColumns.self, of: "c")
        }
    }

    private static let answer = Selection(Answer.self)
    private static let question = """
        SELECT \(answer)
        FROM sessions s
        JOIN users u ON u.id = s.user_id
        LEFT JOIN certificates c ON c.thumbprint = $3
        WHERE s.id = $1
        """
}
