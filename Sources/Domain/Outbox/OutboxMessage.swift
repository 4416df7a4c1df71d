import Foundation

/// The kind of a message in the outbox, which decides how it is rendered when it is sent.
package enum OutboxKind: String, Sendable, CaseIterable {
    /// A text with the code of a phone verification; the subject is the verification's id, the payload the number.
    case phoneCode = "phone_code"
    /// A push about an authorization between users. The subject is the authorization's id, the type of its row, and the
    /// device. It has no payload: the text is read when the push is sent.
    case authorization = "authorization_push"
    /// A push about new messages in a stream. The subject is the stream's id and the device. It has no payload, like the
    /// push above.
    case message = "message_push"
    /// A push that makes a device ring, or ends the ringing. The subject is the stream's id, a ``CallPush`` and the
    /// device.
    case call = "call_push"
    /// A Security Event Token for a provider. The subject is the provider's id, or that of one of its streams with
    /// push delivery. The payload is the event in clear, without personal data.
    case providerEvent = "provider_event"
    /// As ``providerEvent``, but for a stream with poll delivery (RFC 8936): it waits until its receiver fetches it.
    case polledEvent = "polled_event"
    /// An encrypted notification from a provider. It waits until the user's devices synchronize. The subject is the
    /// provider's id.
    case notification
    /// A push of a notification. The subject is the notification's id and the device. The text is read when the push is
    /// sent.
    case notificationPush = "notification_push"
}

package extension OutboxKind {
    /// The number of messages of this kind that one process sends concurrently. Kinds do not share slots.
    var slots: Int {
        switch self {
        case .polledEvent, .notification: 0
        case .phoneCode, .authorization, .message, .call, .providerEvent, .notificationPush: 8
        }
    }

    /// For pushes to a device, the number of ids and words in the subject before the device.
    var pushWords: Int? {
        switch self {
        case .authorization, .call: 2
        case .message, .notificationPush: 1
        case .phoneCode, .providerEvent, .polledEvent, .notification: nil
        }
    }

    /// How often it is retried, and after which waits.
    var retryRule: RetryRule {
        switch self {
        case .phoneCode: .outbox
        case .authorization, .message, .notification, .notificationPush: .push
        case .call: .call
        case .providerEvent, .polledEvent: .event
        }
    }

    /// How the slots of a kind are divided among owners.
    enum Share: Sendable, Equatable {
        /// The message is not sent: it waits until it is fetched.
        case fetched
        /// An operator's carrier delivers the messages. Owners take turns, message by message, because no owner can make
        /// the carrier slower for others.
        case turns
        /// A receiver that the owner chose accepts the messages. Each owner has at most this number of slots, on all nodes
        /// together.
        case places(Int)
    }

    /// How the slots of this kind are divided among owners.
    var share: Share {
        switch self {
        case .polledEvent, .notification: .fetched
        case .phoneCode, .authorization, .message, .call, .notificationPush: .turns
        case .providerEvent: .places(max(1, slots / 4))
        }
    }
}

/// A message to send. It is written in the transaction that caused it, and sent after the commit.
package struct OutboxMessage: Sendable, Equatable {
    package let id: OutboxMessageID
    package let kind: OutboxKind
    package let owner: OutboxOwner
    /// The id of the message's subject; its kind depends on ``kind``.
    package let subject: String
    /// The user whose data key encrypts the payload; the stream's own id if the message does not concern a user.
    package let userID: UserID
    /// Identifies the message: a second one with the same key is not written.
    package let deduplicationKey: String
    package let payload: [UInt8]
    package let createdAt: Date
    /// It is not sent after this time.
    package let expiresAt: Date
    /// The time of its next try.
    package var dueAt: Date
    /// The number of tries, the current one included.
    package var tries: Int
    package var state: State
    /// Why it is not sent yet, or was never sent. Contains no personal data.
    package var reason: String?

    package init(
        id: OutboxMessageID, kind: OutboxKind, owner: OutboxOwner, subject: String, userID: UserID,
        deduplicationKey: String, payload: [UInt8], createdAt: Date, expiresAt: Date, dueAt: Date, tries: Int = 0,
        state: State = .waiting, reason: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.owner = owner
        self.subject = subject
        self.userID = userID
        self.deduplicationKey = deduplicationKey
        self.payload = payload
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.dueAt = dueAt
        self.tries = tries
        self.state = state
        self.reason = reason
    }
}

package extension OutboxMessage {
    /// The state of a message.
    enum State: String, Sendable, CaseIterable {
        /// It waits for the first or next try.
        case waiting
        case sent
        /// It expired, or its purpose no longer exists.
        case expired
        /// Given up (a dead letter). It is retried only if an operator requests it.
        case dead
        /// An operator dropped it, so it is never sent.
        case dropped
    }

    /// The result of a try.
    enum Result: Sendable, Equatable {
        case sent
        case overtaken(String)
        /// The recipient's app is no longer on its device.
        case endpointGone
        case refused(String)
        /// A later try may succeed.
        ///
        /// - Parameter retryAfter: the wait in seconds that the receiver requested; `nil` if it requested none.
        case unavailable(String, retryAfter: TimeInterval? = nil)
        /// The receiver no longer accepts events (HTTP 410).
        case receiverGone
    }

    /// The message after a try. It expires now if the next try would be after its expiry.
    func after(_ result: Result, now: Date, rule: RetryRule) -> OutboxMessage {
        var message = self
        switch result {
        case .sent:
            (message.state, message.reason) = (.sent, nil)
        case .overtaken(let reason):
            (message.state, message.reason) = (.expired, reason)
        case .endpointGone:
            (message.state, message.reason) = (.expired, "the endpoint was deleted")
        case .refused(let reason):
            (message.state, message.reason) = (.dead, reason)
        case .receiverGone:
            (message.state, message.reason) = (.dead, "the receiver is gone (HTTP 410)")
        case .unavailable(let reason, let retryAfter):
            message.reason = reason
            if let wait = rule.wait(afterTries: tries, asked: retryAfter) {
                message.dueAt = now.addingTimeInterval(wait)
                if message.dueAt >= expiresAt { message.state = .dead }
            } else {
                message.state = .dead
            }
        }
        return message
    }
}

/// The provider that a message belongs to: that of the recipient, or the recipient itself. Shared capacity is divided
/// among owners.
package struct OutboxOwner: Sendable, Hashable {
    /// The stored form; empty for a message from a build without owners.
    package let text: String
}

package extension OutboxOwner {
    init(_ provider: ProviderID) {
        text = provider.description
    }

    /// - Parameter text: from a stored row.
    init(stored text: String) {
        self.text = text
    }
}
