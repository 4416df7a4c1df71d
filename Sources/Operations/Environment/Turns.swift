import Database
import Domain

/// What requests of different users read and change in common.
extension Turn {
    /// The counts and the cost of texts.
    static let texts = Turn("texts")
    /// A stream's numbers, members and metadata.
    static func stream(_ id: MessageStreamID) -> Turn { Turn("stream \(id)") }
    /// The ends of indexes, where requests for permission meet as long as there are few.
    static let permissions = Turn("permissions")
    /// How many certificates all and each network got, and the ends of their indexes.
    static let certificates = Turn("certificates")
}
