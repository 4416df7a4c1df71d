import Domain
import Foundation
import PhoneNumbers

/// What is sent to a person: a text to a number, or a push to an app's endpoint.
package enum Message: Sendable, Equatable, Confidential {
    /// An SMS; the body is what the person reads and what an app's autofill understands.
    case text(to: PhoneNumber, body: String)
    /// A push notification to an Amazon SNS platform endpoint, by its ARN; the payload is JSON.
    case push(endpoint: String, payload: String)
}

/// What became of an attempt to send.
package enum DeliveryOutcome: Sendable, Equatable {
    /// Accepted by the carrier's service, under its own reference.
    case sent(reference: String)
    /// Will never be accepted: another attempt is of no use. The reason names no person.
    case refused(reason: String)
    /// Not accepted now: an attempt later may succeed. The reason names no person.
    case unavailable(reason: String)
    /// The endpoint is dead (the app was removed): whoever holds it should drop it.
    case endpointGone
}

/// A way out to people's devices.
package protocol Sender: Sendable {
    /// The name by which policy, metrics and the outbox call it: `sns`, `twilio`, `webhook` or `file`.
    var name: String { get }
    /// Makes one attempt; it never throws, since what became of it is the answer.
    ///
    /// - Parameter id: what all attempts at the message share, so that a receiver which knows of such identifiers takes it
    ///   once. There is no other way to send: an identifier that may be left out is left out.
    func send(_ message: Message, id: UUID) async -> DeliveryOutcome
    /// Whether it has a way for this kind of message at all; all of them unless a sender says otherwise.
    func carries(_ message: Message) -> Bool
}

extension Sender {
    package func carries(_ message: Message) -> Bool { true }
}
