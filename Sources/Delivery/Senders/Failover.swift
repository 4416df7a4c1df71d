import Foundation

/// Senders in the order in which they are tried.
///
/// The next sender is tried only after `.unavailable`. A refusal concerns the message, and a deleted endpoint the
/// device, whichever sender is used. A sender that timed out may still have accepted the message, and cannot be
/// queried. The next one is tried nevertheless, because the user who waits needs one text. A second text has the same
/// code, because codes are derived from the verification. So a text arrives at least once if any sender works. It
/// arrives more than once only after a time-out or a broken connection. Attempts are not repeated here.
package struct Failover: Sender {
    let name = "failover"
    /// In order; each sends the kinds of message that it supports.
    let senders: [any Sender]

    init(_ senders: [any Sender]) {
        self.senders = senders
    }
}

package extension Failover {
    /// Whether any of them supports the message.
    func carries(_ message: Message) -> Bool {
        senders.contains { $0.carries(message) }
    }

    /// Reference and reasons start with the name of the sender: `sns:…`. A receiver's `Retry-After` is heeded if every
    /// sender that was tried has one, and then the shortest.
    func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        var reasons: [String] = []
        var asked = TimeInterval.infinity
        for sender in senders where sender.carries(message) {
            switch await sender.send(message, id: id) {
            case .sent(let reference): return .sent(reference: "\(sender.name):\(reference)")
            case .refused(let reason): return .refused(reason: "\(sender.name): \(reason)")
            case .endpointGone: return .endpointGone
            case .receiverGone: return .receiverGone
            case .unavailable(let reason, let retryAfter):
                reasons.append("\(sender.name): \(reason)")
                asked = min(asked, retryAfter ?? 0)
            }
            // The caller has cancelled; the remaining senders are for the next attempt.
            if Task.isCancelled { break }
        }
        return reasons.isEmpty
            ? .refused(reason: "no sender carries this kind of message")
            : .unavailable(reason: reasons.joined(separator: "; "), retryAfter: asked > 0 ? asked : nil)
    }
}
