import Encoding
import Foundation

/// What an authorization to message is at: the types of row of the product's `u2uAuthorizations`, and what else may
/// become of one.
public enum AuthorizationState: String, Sendable, CaseIterable {
    /// It was asked for and not answered yet.
    case request = "REQUEST"
    /// The asked person agreed: both may message each other.
    case approval = "APPROVAL"
    /// The asked person declined.
    case rejected = "REJECTED"
    /// One of the two took it back.
    case cancelled = "CANCELLED"
    /// Nobody answered in time.
    case expired = "EXPIRED"
    /// The company banned one of the two.
    case banned = "BANNED"

    /// What may happen to an authorization.
    public enum Event: String, Sendable, CaseIterable {
        case request
        case approve
        case reject
        case cancelByAsker = "cancel_by_asker"
        case cancelByAccepter = "cancel_by_accepter"
        case expire
        case ban

        /// The state that the event brings about, where it is allowed.
        public var outcome: AuthorizationState {
            switch self {
            case .request: .request
            case .approve: .approval
            case .reject: .rejected
            case .cancelByAsker, .cancelByAccepter: .cancelled
            case .expire: .expired
            case .ban: .banned
            }
        }
    }

    /// What an event does to an authorization.
    public enum Move: Sendable, Equatable {
        /// It goes over into another state.
        case to(AuthorizationState)
        /// It is there already: whoever repeats a call is told the same.
        case stays
        /// The present state forbids it.
        case forbidden
    }

    /// The move that an event makes; from `nil`, where there is no authorization yet, only a request leads anywhere.
    public static func move(from state: AuthorizationState?, on event: Event) -> Move {
        guard let state else { return event == .request ? .to(.request) : .forbidden }
        if event.outcome == state { return .stays }
        switch (state, event) {
        case (.request, .approve), (.request, .reject), (.request, .cancelByAsker), (.request, .expire),
            (.request, .ban), (.approval, .cancelByAsker), (.approval, .cancelByAccepter), (.approval, .ban):
            return .to(event.outcome)
        default: return .forbidden
        }
    }

    /// Whether it can still become, or is, a permission.
    public var isOpen: Bool { self == .request || self == .approval }
}

/// One user's wish to message another of the same provider, and what became of it.
public struct Authorization: Sendable, Equatable {
    /// Its name, made by the asking app.
    public let id: AuthorizationID
    /// The provider that both are users of.
    public let providerID: ProviderID
    /// Who asked; `nil` once that person was erased.
    public let askerID: UserID?
    /// Who was asked; `nil` where there is no such user, which the asker is not told.
    public let accepterID: UserID?
    /// A keyed digest of whom the asker named, known or not.
    public let target: Digest256
    /// Whether the asked person may ever see it: not where the asker was blocked.
    public var isDelivered: Bool
    /// What the store says; ``state(now:)`` adds what the clock says.
    public var state: AuthorizationState
    /// When it was asked for.
    public let createdAt: Date
    /// When an unanswered request ends.
    public let expiresAt: Date
    /// When the state was entered.
    public var changedAt: Date
    /// Whom the asker named, and the event, as the asker's app wrote them; sealed under the asker's key.
    public let sealedTo: [UInt8]?
    /// The event that the request is about; `nil` where none was named.
    public let sealedEvent: [UInt8]?

    /// Joins the parts, as read from a row or decided at asking.
    public init(
        id: AuthorizationID, providerID: ProviderID, askerID: UserID?, accepterID: UserID?, target: Digest256,
        isDelivered: Bool, state: AuthorizationState, createdAt: Date, expiresAt: Date, changedAt: Date,
        sealedTo: [UInt8]?, sealedEvent: [UInt8]?
    ) {
        self.id = id
        self.providerID = providerID
        self.askerID = askerID
        self.accepterID = accepterID
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
    public func state(now: Date) -> AuthorizationState {
        state == .request && now >= expiresAt ? .expired : state
    }

    /// The string by which both apps know that they may message each other, `<asker> -> <accepter>`; `nil` while it
    /// permits nothing. It permits both directions.
    public var grant: String? {
        guard state == .approval, let askerID, let accepterID else { return nil }
        return "\(askerID) -> \(accepterID)"
    }

    /// Where a user stands in it; `nil` for a stranger, and for an asked person who is never to see it.
    public func box(of user: UserID) -> AuthorizationBox? {
        if user == askerID { return .outgoing }
        return user == accepterID && isDelivered ? .incoming : nil
    }

    /// The authorization after an event; `nil` where the event was there before.
    ///
    /// - Throws: ``Refusal`` `conflict` with the state that forbids it, `gone` where nobody answered in time.
    public func after(_ event: AuthorizationState.Event, now: Date) throws(Refusal) -> Authorization? {
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
    public func requireAskableAgain(now: Date, policy: AuthorizationPolicy) throws(Refusal) {
        let present = state(now: now)
        if present.isOpen {
            throw Refusal(
                .conflict, "There is an authorization between the two of you: see GET /authorizations.",
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
public enum AuthorizationBox: String, Sendable, CaseIterable {
    /// The user was asked.
    case incoming = "in"
    /// The user asked.
    case outgoing = "out"
}

/// Whom a request is addressed to, as the asking app names the person.
public enum AuthorizationAddress: Sendable, Equatable {
    /// By the service's own name.
    case user(UserID)
    /// By provider and the provider's own name for the user.
    case address(Slug, externalID: String)

    /// Reads a user id or an address.
    ///
    /// - Throws: ``Refusal`` `malformed_request`.
    public init(_ text: String) throws(Refusal) {
        if let id = UserID(text[...]) {
            self = .user(id)
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let slug = Slug(String(parts[0])), (1...256).contains(parts[1].utf8.count),
            !parts[1].utf8.contains(0)
        else {
            throw Refusal(.malformedRequest, "$.to is neither a user id nor an address (<provider>/<user>).")
        }
        self = .address(slug, externalID: String(parts[1]))
    }

    /// The one form in which equal addresses are equal texts.
    public var text: String {
        switch self {
        case .user(let id): id.description
        case .address(let slug, let externalID): "\(slug.text)/\(externalID)"
        }
    }
}

/// A row of the product's `u2uAuthorizations`: that an authorization entered a state, and whether its person was told.
public struct AuthorizationRow: Sendable, Equatable {
    /// Which authorization.
    public let authorizationID: AuthorizationID
    /// The state it entered.
    public let type: AuthorizationState
    /// When.
    public let at: Date
    /// Who is to be told by a push; `nil` where nobody is.
    public let recipientID: UserID?
    /// Whether the push was handed over; `nil` where nobody is to be told.
    public let isSent: Bool?

    /// Joins the parts.
    public init(
        authorizationID: AuthorizationID, type: AuthorizationState, at: Date, recipientID: UserID?, isSent: Bool?
    ) {
        self.authorizationID = authorizationID
        self.type = type
        self.at = at
        self.recipientID = recipientID
        self.isSent = isSent
    }

    /// The row that says that an authorization entered its state. The asked person is told of a request that may be
    /// seen, the asker of the answer.
    public init(of authorization: Authorization) {
        let recipient: UserID? =
            switch authorization.state {
            case .request: authorization.isDelivered ? authorization.accepterID : nil
            case .approval, .rejected: authorization.askerID
            case .cancelled, .expired, .banned: nil
            }
        self.init(
            authorizationID: authorization.id, type: authorization.state, at: authorization.changedAt,
            recipientID: recipient, isSent: recipient == nil ? nil : false)
    }
}
