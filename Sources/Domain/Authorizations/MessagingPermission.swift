import Encoding
import Foundation

package extension MessagingPermission.State {
    /// What can happen to an authorization.
    enum Event: String, Sendable, CaseIterable {
        case request
        case approve
        case reject
        case cancelByRequester = "cancel_by_asker"
        case cancelByRecipient = "cancel_by_accepter"
        case expire
        case ban

        /// The state after the event, if the event is allowed.
        var outcome: MessagingPermission.State {
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

    /// Whether it is a permission, or can still become one.
    var isOpen: Bool { self == .request || self == .approval }
}

/// One user's request to message another user of the same provider, and its state.
package struct MessagingPermission: Sendable, Equatable {
    /// Its id, made by the requester's app.
    package let id: AuthorizationID
    /// The provider that both are users of.
    package let providerID: ProviderID
    /// The requester; `nil` after that user's erasure.
    package let requesterID: UserID?
    /// The recipient; `nil` if there is no such user, which the requester does not learn.
    package let recipientID: UserID?
    /// A keyed digest of the address that the requester named, known or not.
    package let target: Digest256
    /// Whether the recipient may ever see it: not if the requester was blocked.
    package var isDelivered: Bool
    /// The stored state; ``state(now:)`` also considers the clock.
    package var state: State
    package let createdAt: Date
    /// When an unanswered request expires.
    package let expiresAt: Date
    /// When the state was entered.
    package var changedAt: Date
    /// The named address, as the requester's app wrote it; sealed under the requester's key.
    package let sealedTo: [UInt8]?
    /// The event that the request is about, sealed under the requester's key; `nil` if none was named.
    package let sealedEvent: [UInt8]?
    /// For a request that the approval of the crossed request ended: the authorization that was approved.
    package private(set) var replacedBy: AuthorizationID?

    package init(
        id: AuthorizationID, providerID: ProviderID, requesterID: UserID?, recipientID: UserID?, target: Digest256,
        isDelivered: Bool, state: State, createdAt: Date, expiresAt: Date, changedAt: Date,
        sealedTo: [UInt8]?, sealedEvent: [UInt8]?, replacedBy: AuthorizationID? = nil
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
        self.replacedBy = replacedBy
    }
}

package extension MessagingPermission {
    /// The state of an authorization to message. The raw values are the row types of the product's `u2uAuthorizations`,
    /// with further final states.
    enum State: String, Sendable, CaseIterable {
        /// It was requested and not answered yet.
        case request = "REQUEST"
        /// The recipient agreed: both may message each other.
        case approval = "APPROVAL"
        case rejected = "REJECTED"
        /// One of the two withdrew it.
        case cancelled = "CANCELLED"
        case expired = "EXPIRED"
        /// The company banned one of the two.
        case banned = "BANNED"

        /// The effect of an event on an authorization.
        enum Move: Sendable, Equatable {
            /// It changes to another state.
            case to(State)
            /// It is in that state already: a repeated call gets the same answer.
            case stays
            /// The current state forbids it.
            case forbidden
        }

        /// The effect of an event; without an authorization (`nil`) only a request is allowed.
        static func move(from state: State?, on event: Event) -> Move {
            guard let state else { return event == .request ? .to(.request) : .forbidden }
            if event.outcome == state { return .stays }
            switch (state, event) {
            case (.request, .approve), (.request, .reject), (.request, .cancelByRequester), (.request, .expire),
                (.request, .ban), (.approval, .cancelByRequester), (.approval, .cancelByRecipient), (.approval, .ban):
                return .to(event.outcome)
            default: return .forbidden
            }
        }
    }

    /// The side of an authorization that a user is on.
    enum Box: String, Sendable, CaseIterable {
        case incoming = "in"
        case outgoing = "out"
    }

    /// The state at `now`: an unanswered request past its time is expired, whatever the stored state.
    func state(now: Date) -> State {
        state == .request && now >= expiresAt ? .expired : state
    }

    /// The string by which both apps know that they may message each other, `<requester> -> <recipient>`. It permits
    /// both directions. `nil` unless the authorization is approved.
    var grant: String? {
        guard state == .approval, let requesterID, let recipientID else { return nil }
        return "\(requesterID) -> \(recipientID)"
    }

    /// The side of it that a user is on; `nil` for a user who takes no part, and for a recipient who may never see it.
    func box(of user: UserID) -> Box? {
        if user == requesterID { return .outgoing }
        return user == recipientID && isDelivered ? .incoming : nil
    }

    /// The authorization after an event; `nil` if the event had happened before.
    ///
    /// - Throws: ``Refusal`` `conflict` with the state that forbids it, `gone` if nobody answered in time.
    func after(_ event: State.Event, now: Date) throws(Refusal) -> MessagingPermission? {
        let present = state(now: now)
        switch State.move(from: present, on: event) {
        case .stays: return nil
        case .to(let next):
            var moved = self
            moved.state = next
            moved.changedAt = now
            return moved
        case .forbidden where present == .expired:
            throw Refusal.authorizationExpired(state: present.rawValue)
        case .forbidden:
            throw Refusal.authorizationIs(present.rawValue)
        }
    }

    /// The authorization after a decision about another open one of the same two users; `nil` if it stays as it is.
    ///
    /// An approval ends the crossed request, so that two users have one permission. A rejection withdraws the crossed
    /// request, because its requester has just said no. The end of a permission leaves nothing open. A requester who
    /// withdraws a request leaves the other user's request.
    ///
    /// - Parameters:
    ///   - event: what happens to the other one.
    ///   - other: the other one before the event.
    func after(
        _ event: State.Event, of other: MessagingPermission, now: Date
    ) -> MessagingPermission? {
        let isEnded =
            switch event {
            case .approve, .reject: true
            case .cancelByRequester, .cancelByRecipient: other.state(now: now) == .approval
            case .request, .expire, .ban: false
            }
        guard isEnded, id != other.id, state(now: now).isOpen else { return nil }
        var ended = self
        (ended.state, ended.changedAt) = (.cancelled, now)
        if event == .approve { ended.replacedBy = other.id }
        return ended
    }

    /// Refuses a new request to the same recipient while this one is open, and for some time after it was declined.
    ///
    /// - Throws: ``Refusal`` `conflict` with the state.
    func requireAskableAgain(now: Date, policy: AuthorizationPolicy) throws(Refusal) {
        let present = state(now: now)
        if present.isOpen {
            throw Refusal.authorizationExists(state: present.rawValue)
        }
        let end = changedAt.addingTimeInterval(policy.againAfterRejection)
        if present == .rejected, now < end {
            throw Refusal.authorizationRejected(
                state: present.rawValue,
                retryAfter: max(1, Int(saturating: end.timeIntervalSince(now).rounded(.up))))
        }
    }
}

/// The recipient of a request, as the requester's app names the user.
package enum AuthorizationAddress: Sendable, Equatable {
    /// By the service's user id.
    case user(UserID)
    /// By provider and the provider's own id of the user.
    case address(Slug, externalID: String)
}

package extension AuthorizationAddress {
    /// Parses a user id or an address.
    ///
    /// - Throws: ``Refusal`` `malformed_request`.
    init(_ text: String) throws(Refusal) {
        if let id = UserID(text[...]) {
            self = .user(id)
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let slug = Slug(String(parts[0])), (1...256).contains(parts[1].utf8.count),
            !parts[1].utf8.contains(0)
        else {
            throw Refusal.unreadableRecipient
        }
        self = .address(slug, externalID: String(parts[1]))
    }

    /// Whether this is the address of a user.
    ///
    /// - Parameter slug: the slug of the user's provider.
    func names(_ user: User, at slug: Slug?) -> Bool {
        switch self {
        case .user(let id): id == user.id
        case .address(let named, let externalID):
            // Compared as bytes, as the store does.
            named == slug && externalID.utf8.elementsEqual(user.externalID.utf8)
        }
    }

    /// The canonical form: equal addresses have equal texts.
    var text: String {
        switch self {
        case .user(let id): id.description
        case .address(let slug, let externalID): "\(slug.text)/\(externalID)"
        }
    }
}

/// A row of the product's `u2uAuthorizations`: an authorization entered a state, and whether the user was notified.
package struct AuthorizationRow: Sendable, Equatable {
    package let authorizationID: AuthorizationID
    package let type: MessagingPermission.State
    package let at: Date
    /// The user to notify by a push; `nil` for nobody.
    package let recipientID: UserID?
    /// Whether the push was sent; `nil` if nobody is to be notified.
    package let isSent: Bool?

    package init(
        authorizationID: AuthorizationID, type: MessagingPermission.State, at: Date, recipientID: UserID?, isSent: Bool?
    ) {
        self.authorizationID = authorizationID
        self.type = type
        self.at = at
        self.recipientID = recipientID
        self.isSent = isSent
    }

    /// The row for an authorization that entered its state. The recipient is notified of a request that may be seen,
    /// the requester of the answer.
    package init(of authorization: MessagingPermission) {
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
