import Foundation

/// Whether a message may be the next one of a call: first the caller's offer, then the answer of the device that picks up
/// first. Both hold addresses and a token of 128 random bits, which the service does not read. Whoever hangs up deletes the
/// stream.
package enum CallTurn: String, Sendable, CaseIterable {
    case allowed
    /// The other side is to say something.
    case others
    /// Another device was first.
    case answered
    /// The call has rung for too long.
    case missed

    /// Decides.
    ///
    /// - Parameters:
    ///   - number: the message's number in the stream.
    ///   - isCaller: whether its sender has opened the stream.
    ///   - age: seconds since the stream was opened.
    ///   - ringing: how many of them a call may take to be answered.
    package init(number: Int64, isCaller: Bool, age: TimeInterval, ringing: TimeInterval) {
        self =
            switch number {
            case ...0: .others
            case 1, 2:
                isCaller != (number == 1) ? .others : age > ringing ? .missed : .allowed
            default: .answered
            }
    }
}
