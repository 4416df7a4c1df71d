import Foundation

/// What a message in the outbox is, which says how it is put together when it is sent.
package enum OutboxKind: String, Sendable, CaseIterable {
    /// A text with the code of a phone verification; the subject is the verification's id, the payload the number.
    case phoneCode = "phone_code"
    /// A push about an authorization between users; the subject is the authorization's id and the type of its row, and
    /// there is no payload: what it says is read when it is sent.
    case authorization = "authorization_push"
    /// A Security Event Token for a provider; the subject is the provider's id, the payload the event without anything
    /// personal, in clear.
    case providerEvent = "provider_event"

    /// How many of its kind one process has under way at once: no kind takes another's places.
    package var slots: Int { 8 }

    /// How often it is tried.
    package var retryRule: RetryRule {
        switch self {
        case .phoneCode: .outbox
        case .authorization: .push
        case .providerEvent: .event
        }
    }
}

/// What became of a message.
package enum OutboxState: String, Sendable, CaseIterable {
    /// It is to be sent, now or at its next try.
    case waiting
    case sent
    /// It was overtaken: past its time, or of no more use.
    case expired
    /// It will not be tried again unless an operator says so: a dead letter.
    case dead
    /// An operator took it out.
    case dropped
}

/// A message that was written in the transaction that caused it, and is sent after that.
package struct OutboxMessage: Sendable, Equatable {
    package let id: OutboxMessageID
    package let kind: OutboxKind
    /// What it is about, by id.
    package let subject: String
    /// Whose data key the payload is sealed under.
    package let userID: UserID
    /// Messages with the same one are the same message: the second is not written.
    package let deduplicationKey: String
    package let payload: [UInt8]
    package let createdAt: Date
    /// From when on it is not sent any more.
    package let expiresAt: Date
    /// When it is to be tried next.
    package var dueAt: Date
    /// How often it was tried, the present try among them.
    package var tries: Int
    package var state: OutboxState
    /// Why it is not sent yet, or never was. Names no person.
    package var reason: String?

    /// Joins the parts, as read from a row or decided at writing.
    package init(
        id: OutboxMessageID, kind: OutboxKind, subject: String, userID: UserID, deduplicationKey: String,
        payload: [UInt8], createdAt: Date, expiresAt: Date, dueAt: Date, tries: Int = 0,
        state: OutboxState = .waiting, reason: String? = nil
    ) {
        self.id = id
        self.kind = kind
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

    /// What a try came to.
    package enum Result: Sendable, Equatable {
        case sent
        case overtaken(String)
        /// The app that it was for is gone from its device.
        case endpointGone
        case refused(String)
        /// Perhaps to be accepted later.
        case unavailable(String)
    }

    /// The message after a try; one that would be due only after its time has expired with it.
    package func after(_ result: Result, now: Date, rule: RetryRule) -> OutboxMessage {
        var message = self
        switch result {
        case .sent:
            (message.state, message.reason) = (.sent, nil)
        case .overtaken(let reason):
            (message.state, message.reason) = (.expired, reason)
        case .endpointGone:
            (message.state, message.reason) = (.expired, "the endpoint is gone")
        case .refused(let reason):
            (message.state, message.reason) = (.dead, reason)
        case .unavailable(let reason):
            message.reason = reason
            if let wait = rule.wait(afterTries: tries) {
                message.dueAt = now.addingTimeInterval(wait)
                if message.dueAt >= expiresAt { message.state = .dead }
            } else {
                message.state = .dead
            }
        }
        return message
    }
}
