import Foundation

/// Senders in the order in which they are tried.
///
/// The next one is asked only after `.unavailable`; a refusal is about the message, and a dead endpoint about the
/// device, whoever carries it. A sender that did not answer in time may have accepted all the same, and there is no
/// asking it: the next one is tried nevertheless, because a person who waits needs one text, and a second one brings the
/// same code (codes are derived from the verification, not drawn for each text). So a text comes at least once if any
/// sender works, and more than once only after a time-out or a broken connection. Attempts are not repeated here.
package struct Failover: Sender {
    package let name = "failover"
    /// In order; each carries what it can.
    package let senders: [any Sender]

    /// Tries senders in this order.
    package init(_ senders: [any Sender]) {
        self.senders = senders
    }

    /// What any of them carries.
    package func carries(_ message: Message) -> Bool {
        senders.contains { $0.carries(message) }
    }

    /// Reference and reasons start with the name of the sender that they are from: `sns:…`.
    package func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        var reasons: [String] = []
        for sender in senders where sender.carries(message) {
            switch await sender.send(message, id: id) {
            case .sent(let reference): return .sent(reference: "\(sender.name):\(reference)")
            case .refused(let reason): return .refused(reason: "\(sender.name): \(reason)")
            case .endpointGone: return .endpointGone
            case .unavailable(let reason): reasons.append("\(sender.name): \(reason)")
            }
            // Whoever asked has gone; what is left is for the next attempt.
            if Task.isCancelled { break }
        }
        return reasons.isEmpty
            ? .refused(reason: "no sender carries this kind of message")
            : .unavailable(reason: reasons.joined(separator: "; "))
    }
}
