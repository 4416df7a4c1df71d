import Foundation

/// Whether a message may be the next one of a call. The first is the caller's offer, the second the answer of the
/// device that picks up first. Both contain addresses and a token of 128 random bits, which the service does not read.
/// Either side hangs up by deleting the stream.
enum CallTurn: String, Sendable, CaseIterable {
    case allowed
    /// The other side must send next.
    case others
    /// Another device of the user answered first.
    case answered
    /// The call rang for too long.
    case missed

    /// - Parameters:
    ///   - number: the message's number in the stream.
    ///   - isCaller: whether its sender opened the stream.
    ///   - age: seconds since the stream was opened.
    ///   - ringing: the seconds in which a call may be answered.
    init(number: Int64, isCaller: Bool, age: TimeInterval, ringing: TimeInterval) {
        self =
            switch number {
            case ...0: .others
            case 1, 2:
                isCaller != (number == 1) ? .others : age > ringing ? .missed : .allowed
            default: .answered
            }
    }
}
