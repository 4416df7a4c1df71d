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
        let answer = Self.answer.each
        return Holder(
            session: try answer.session.session(row),
            user: try answer.user.user(row, now: transaction.now),
            certificate: try answer.certificate.certificateIfFound(row),
            mayDeviceBeHeld: try row[answer.isDeviceHeld], mayUserBeHeld: try row[answer.isUserHeld])
    }

    private struct Answer: ColumnSet {
        let isDeviceHeld: Column<Bool>
        let isUserHeld: Column<Bool>
        let session: SessionColumns
        let user: UserColumns
        let certificate: CertificateColumns

        init(_ list: inout ColumnList) {
            isDeviceHeld = list.add("COALESCE(d.held, 0)")
            isUserHeld = list.add("u.held")
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
        LEFT JOIN devices d ON d.id = $2
        LEFT JOIN certificates c ON c.thumbprint = $3
        WHERE s.id = $1
        """
}
