import Foundation

/// The kind of a message in the outbox, which decides how it is rendered when it is sent.
package enum OutboxKind: String, Sendable, CaseIterable {
    /// A text with the code of a phone verification; the subject is the verification's id, the payload the number.
    case phoneCode = "phone_code"
    /// A push about an authorization between users. The subject is the authorization's id and the type of its row.
    /// There is no payload: the text is read when it is sent.
    case authorization = "authorization_push"
    /// A push about new messages in a stream; the subject is the stream's id. There is no payload, as above.
    case message = "message_push"
    /// A Security Event Token for a provider. The subject is the provider's id, or that of one of its streams with
    /// push delivery. The payload is the event in clear, without personal data.
    case providerEvent = "provider_event"
    /// The same for a stream with poll delivery (RFC 8936): nobody sends it, it waits for its receiver.
    case polledEvent = "polled_event"
    /// A provider's notification for a user, sealed: nobody sends it, it waits for the user's devices to synchronize.
    /// The subject is the provider's id.
    case notification
    /// A push of a notification. The subject is the notification's id; its text is read when it is sent.
    case notificationPush = "notification_push"

    /// How many messages of its kind one process sends at once: no kind uses another's slots.
    package var slots: Int {
        switch self {
        case .polledEvent, .notification: 0
        case .phoneCode, .authorization, .message, .providerEvent, .notificationPush: 8
        }
    }

    /// How often it is retried.
    package var retryRule: RetryRule {
        switch self {
        case .phoneCode: .outbox
        case .authorization, .message, .notification, .notificationPush: .push
        case .providerEvent, .polledEvent: .event
        }
    }
}

/// The state of a message.
package enum OutboxState: String, Sendable, CaseIterable {
    /// It waits for its first or next try.
    case waiting
    case sent
    /// It expired, or was no longer of use.
    case expired
    /// Given up (a dead letter): it is retried only if an operator requests it.
    case dead
    /// An operator dropped it, so it is never sent.
    case dropped
}

/// A message that is written in the transaction that caused it, and sent after the commit.
package struct OutboxMessage: Sendable, Equatable {
    package let id: OutboxMessageID
    package let kind: OutboxKind
    package let owner: OutboxOwner
    /// The id of what it is about.
    package let subject: String
    /// The user whose data key seals the payload; the stream's own id if the message is about no user.
    package let userID: UserID
    /// Messages with the same key are the same message: the second is not written.
    package let deduplicationKey: String
    package let payload: [UInt8]
    package let createdAt: Date
    /// After this time it is not sent any more.
    package let expiresAt: Date
    /// When it is to be tried next.
    package var dueAt: Date
    /// The number of tries, the current one included.
    package var tries: Int
    package var state: OutboxState
    /// Why it is not sent yet, or never was. Contains no personal data.
    package var reason: String?

    /// Memberwise, from a stored row or for a new message.
    package init(
        id: OutboxMessageID, kind: OutboxKind, owner: OutboxOwner, subject: String, userID: UserID,
        deduplicationKey: String, payload: [UInt8], createdAt: Date, expiresAt: Date, dueAt: Date, tries: Int = 0,
        state: OutboxState = .waiting, reason: String? = nil
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

    /// The result of a try.
    package enum Result: Sendable, Equatable {
        case sent
        case overtaken(String)
        /// The recipient's app is no longer on its device.
        case endpointGone
        case refused(String)
        /// A later try may succeed.
        ///
        /// - Parameter retryAfter: the seconds for which the receiver wants to be left alone; `nil` if it does not say.
        case unavailable(String, retryAfter: TimeInterval? = nil)
        /// The receiver takes nothing any more.
        case receiverGone
    }

    /// The message after a try. If the next try would be after its expiry, the message expires now.
    package func after(_ result: Result, now: Date, rule: RetryRule) -> OutboxMessage {
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
