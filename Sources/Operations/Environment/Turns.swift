import Database
import Domain

/// Data that requests of different users read and change together.
extension Turn {
    /// The numbers and the cost of texts.
    static let texts = Turn("texts")
    /// A stream's numbers, members and metadata.
    static func stream(_ id: MessageStreamID) -> Turn { Turn("stream \(id)") }
    /// The sessions of a user, of which the oldest one on a device ends when another is opened. Sign-ins on several
    /// devices conflict too, because their rows are on the same pages of an index.
    static func sessions(like session: Session) -> Turn {
        Turn("sessions \(session.providerID) \(session.externalID)")
    }
    /// The ends of indexes, on which requests for permission conflict as long as there are few rows.
    static let permissions = Turn("permissions")
    /// The numbers of certificates in total and by network, and the ends of their indexes.
    static let certificates = Turn("certificates")
}
