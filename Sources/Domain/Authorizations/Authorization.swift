import Encoding
import Foundation

/// What an authorization to message is at: the types of row of the product's `u2uAuthorizations`, and what else may
/// become of one.
package enum AuthorizationState: String, Sendable, CaseIterable {
    /// It was asked for and not answered yet.
    case request = "REQUEST"
    /// The asked person agreed: both may message each other.
    case approval = "APPROVAL"
    case rejected = "REJECTED"
    /// One of the two took it back.
    case cancelled = "CANCELLED"
    case expired = "EXPIRED"
    /// The company banned one of the two.
    case banned = "BANNED"

    /// What may happen to an authorization.
    package enum Event: String, Sendable, CaseIterable {
        case request
        case approve
        case reject
        case cancelByRequester = "cancel_by_asker"
        case cancelByRecipient = "cancel_by_accepter"
        case expire
        case ban

        /// The state that the event brings about, if it is allowed.
        package var outcome: AuthorizationState {
            switch self {
            case .request: .request
            case .approve: .approval
            case .reject: .rejected
            case .cancelByRequester, .cancelByRecipient: .cancelled
            case .expire: .expired
            case .ban: .banned
            }
        }
    }

    /// What an event does to an authorization.
    package enum Move: Sendable, Equatable {
        /// It goes over into another state.
        case to(AuthorizationState)
        /// It is there already: whoever repeats a call is told the same.
        case stays
        /// The present state forbids it.
        case forbidden
    }

    /// The move that an event makes; from `nil`, if there is no authorization yet, only a request leads anywhere.
    package static func move(from state: AuthorizationState?, on event: Event) -> Move {
        guard let state else { return event == .request ? .to(.request) : .forbidden }
        if event.outcome == state { return .stays }
        switch (state, event) {
        case (.request, .approve), (.request, .reject), (.request, .cancelByRequester), (.request, .expire),
            (.request, .ban), (.approval, .cancelByRequester), (.approval, .cancelByRecipient), (.approval, .ban):
            return .to(event.outcome)
        default: return .forbidden
        }
    }

    /// Whether it can still become, or is, a permission.
    package var isOpen: Bool { self == .request || self == .approval }
}

/// One user's wish to message another of the same provider, and what became of it.
package struct Authorization: Sendable, Equatable {
    /// Its name, made by the asking app.
    package let id: AuthorizationID
    /// The provider that both are users of.
    package let providerID: ProviderID
    /// Who asked; `nil` once that person was erased.
    package let requesterID: UserID?
    /// Who was asked; `nil` if there is no such user, which the requester is not told.
    package let recipientID: UserID?
    /// A keyed digest of whom the requester named, known or not.
    package let target: Digest256
    /// Whether the asked person may ever see it: not if the requester was blocked.
    package var isDelivered: Bool
    /// What the store says; ``state(now:)`` adds what the clock says.
    package var state: AuthorizationState
    /// When it was asked for.
    package let createdAt: Date
    /// When an unanswered request ends.
    package let expiresAt: Date
    /// When the state was entered.
    package var changedAt: Date
    /// Whom the requester named, and the event, as the requester's app wrote them; sealed under the requester's key.
    package let sealedTo: [UInt8]?
    /// The event that the request is about; `nil` if none was named.
    package let sealedEvent: [UInt8]?

    /// Joins the parts, as read from a row or decided at asking.
    package init(
        id: AuthorizationID, providerID: ProviderID, requesterID: UserID?, recipientID: UserID?, target: Digest256,
        isDelivered: Bool, state: AuthorizationState, createdAt: Date, expiresAt: Date, changedAt: Date,
        sealedTo: [UInt8]?, sealedEvent: [UInt8]?
    ) {
        self.id = id
        self.providerID = providerID
        self.requesterID = requesterID
        self.recipientID = recipientID
        self.target = target
        self.isDelivered = isDelivered
        self.state = state
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.changedAt = changedAt
        self.sealedTo = sealedTo
        self.sealedEvent = sealedEvent
    }

    /// The state at a moment: an unanswered request past its time is expired, whether or not anybody wrote so.
    package func state(now: Date) -> AuthorizationState {
        state == .request && now >= expiresAt ? .expired : state
    }

    /// The string by which both apps know that they may message each other, `<requester> -> <recipient>`; `nil` while it
    /// permits nothing. It permits both directions.
    package var grant: String? {
        guard state == .approval, let requesterID, let recipientID else { return nil }
        return "\(requesterID) -> \(recipientID)"
    }

    /// On which side of it a user is; `nil` for a stranger, and for an asked person who is never to see it.
    package func box(of user: UserID) -> AuthorizationBox? {
        if user == requesterID { return .outgoing }
        return user == recipientID && isDelivered ? .incoming : nil
    }

    /// The authorization after an event; `nil` if the event was there before.
    ///
    /// - Throws: ``Refusal`` `conflict` with the state that forbids it, `gone` if nobody answered in time.
    package func after(_ event: AuthorizationState.Event, now: Date) throws(Refusal) -> Authorization? {
        let present = state(now: now)
        switch AuthorizationState.move(from: present, on: event) {
        case .stays: return nil
        case .to(let next):
            var moved = self
            moved.state = next
            moved.changedAt = now
            return moved
        case .forbidden where present == .expired:
            throw Refusal(.gone, "Nobody answered the request in time: ask again.", state: present.rawValue)
        case .forbidden:
            throw Refusal(.conflict, "The authorization is \(present.rawValue).", state: present.rawValue)
        }
    }

    /// Refuses a new request to the same person while this one forbids it: while it is open, and for some time after it
    /// was declined.
    ///
    /// - Throws: ``Refusal`` `conflict` with the state.
    package func requireAskableAgain(now: Date, policy: AuthorizationPolicy) throws(Refusal) {
        let present = state(now: now)
        if present.isOpen {
            throw Refusal(
                .conflict, "There is an authorization between the two of you.", about: .authorizations,
                state: present.rawValue)
        }
        let end = changedAt.addingTimeInterval(policy.againAfterRejection)
        if present == .rejected, now < end {
            throw Refusal(
                .conflict, "The person declined; ask again later.", state: present.rawValue,
                retryAfter: max(1, Int(saturating: end.timeIntervalSince(now).rounded(.up))))
        }
    }
}

/// Which side of an authorization a user is on.
package enum AuthorizationBox: String, Sendable, CaseIterable {
    case incoming = "in"
    case outgoing = "out"
}

/// Whom a request is addressed to, as the asking app names the person.
package enum AuthorizationAddress: Sendable, Equatable {
    /// By the service's own name.
    case user(UserID)
    /// By provider and the provider's own name for the user.
    case address(Slug, externalID: String)

    /// Reads a user id or an address.
    ///
    /// - Throws: ``Refusal`` `malformed_request`.
    package init(_ text: String) throws(Refusal) {
        if let id = UserID(text[...]) {
            self = .user(id)
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let slug = Slug(String(parts[0])), (1...256).contains(parts[1].utf8.count),
            !parts[1].utf8.contains(0)
        else {
            throw Refusal(
                .malformedRequest, "It is neither a user id nor an address (<provider>/<user>).", about: .recipient)
        }
        self = .address(slug, externalID: String(parts[1]))
    }

    /// The one form in which equal addresses are equal texts.
    package var text: String {
        switch self {
        case .user(let id): id.description
        case .address(let slug, let externalID): "\(slug.text)/\(externalID)"
        }
    }
}

/// A row of the product's `u2uAuthorizations`: that an authorization entered a state, and whether its person was notified.
package struct AuthorizationRow: Sendable, Equatable {
    package let authorizationID: AuthorizationID
    package let type: AuthorizationState
    package let at: Date
    /// Who is to be told by a push; `nil` if nobody is.
    package let recipientID: UserID?
    /// Whether the push was handed over; `nil` if nobody is to be told.
    package let isSent: Bool?

    package init(
        authorizationID: AuthorizationID, type: AuthorizationState, at: Date, recipientID: UserID?, isSent: Bool?
    ) {
        self.authorizationID = authorizationID
        self.type = type
        self.at = at
        self.recipientID = recipientID
        self.isSent = isSent
    }

    /// The row that says that an authorization entered its state. The asked person is told of a request that may be
    /// seen, the requester of the answer.
    package init(of authorization: Authorization) {
        let recipient: UserID? =
            switch authorization.state {
            case .request: authorization.isDelivered ? authorization.recipientID : nil
            case .approval, .rejected: authorization.requesterID
            case .cancelled, .expired, .banned: nil
            }
        self.init(
            authorizationID: authorization.id, type: authorization.state, at: authorization.changedAt,
            recipientID: recipient, isSent: recipient == nil ? nil : false)
    }
}
