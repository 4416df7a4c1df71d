import Domain
import Foundation
import PhoneNumbers

/// A message to a user: a text to a number, or a push to an app's endpoint.
package enum Message: Sendable, Equatable, Confidential {
    /// An SMS; the user and the app's autofill read the body.
    case text(to: PhoneNumber, body: String)
    /// A push notification to an Amazon SNS platform endpoint, by its ARN; the payload is JSON.
    case push(endpoint: String, payload: String, urgency: PushUrgency = .usual)
}

/// How soon a push must arrive, for the headers of a carrier.
package enum PushUrgency: Sendable, Equatable {
    /// It may wait until the device is awake.
    case usual
    /// It wakes the device now, or is dropped after this number of seconds. On the screen it replaces an earlier push with
    /// the same id.
    case call(id: String, seconds: Int)
}

package enum DeliveryOutcome: Sendable, Equatable {
    /// Accepted by the carrier's service, with its own reference.
    case sent(reference: String)
    /// Will never be accepted, so no other attempt is made. The reason contains no personal data.
    case refused(reason: String)
    /// Not accepted now; a later attempt may succeed. The reason contains no personal data.
    ///
    /// - Parameter retryAfter: the seconds that the receiver asks to wait; `nil` if it does not say.
    case unavailable(reason: String, retryAfter: TimeInterval? = nil)
    /// The endpoint is deleted (the app was removed): the caller should delete its record.
    case endpointGone
    /// The receiver says that it will accept nothing again.
    case receiverGone
}

/// A service that sends messages to users' devices.
protocol Sender: Sendable {
    /// Its name in policy, metrics and outbox: the name of its ``SenderKind``.
    var name: String { get }
    /// Makes one attempt. It never throws, because the outcome is the result.
    ///
    /// - Parameter id: the same for all attempts at the message. A receiver that supports such ids accepts the
    ///   message only once. It is required, so that no caller forgets it.
    func send(_ message: Message, id: UUID) async -> DeliveryOutcome
    /// Whether it can send this kind of message; by default every kind.
    func carries(_ message: Message) -> Bool
}

extension Sender {
    func carries(_ message: Message) -> Bool { true }
}
