import Encoding
import Foundation

/// The inner one of the protocol's two state machines: what a session lets its holder do.
package enum SessionState: String, Sendable, CaseIterable {
    /// There is no session, or no longer one.
    case unauthenticated
    /// All actions of the application are allowed.
    case authenticated
    /// Only renewal and destruction are.
    case challenged

    /// What may happen to a session.
    package enum Event: String, Sendable, CaseIterable {
        case create
        case challenge
        case renew
        case destroy
    }

    /// Who causes an event.
    package enum Caller: Sendable, CaseIterable {
        /// The device, over its connection.
        case device
        /// The service: for a provider, an admin, a ban, or what it saw itself.
        case service
    }

    /// The state after an event; `nil` where the protocol does not allow it.
    ///
    /// Without a connection a session can only be destroyed, by the server's side such as a ban or a provider's logout, or
    /// challenged by the service. What the clock ends is not an event: see ``Session/effectiveState(at:policy:)``.
    package func after(
        _ event: Event, while connection: ConnectionState, by caller: Caller = .device
    ) -> SessionState? {
        let isService = caller == .service && event == .challenge
        guard connection == .connected || event == .destroy || isService else { return nil }
        switch (self, event) {
        case (.unauthenticated, .create): return .authenticated
        case (.authenticated, .challenge): return .challenged
        case (.challenged, .renew): return .authenticated
        case (.authenticated, .destroy), (.challenged, .destroy): return .unauthenticated
        default: return nil
        }
    }
}

/// A user's session on a device, bound to the certificate it was created under (RFC 8705 §3).
package struct Session: Sendable, Equatable {
    package let id: SessionID
    /// SHA-256 of its token; the token itself is known to the device alone.
    package var tokenHash: Digest256
    package let userID: UserID
    /// The provider that vouched for the user.
    package let providerID: ProviderID
    /// The provider's own name for the user.
    package let externalID: String
    /// The app it was opened for.
    package let applicationID: ApplicationID
    /// The device it lives on.
    package let deviceID: DeviceID
    /// SHA-256 of the device's certificate: the confirmation `x5t#S256`.
    package var thumbprint: Digest256
    /// The provider's key that signed the identity token which opened or last renewed it.
    package var providerKeyID: ProviderKeyID
    /// What the store says; ``effectiveState(at:policy:)`` adds what the clock says.
    package var state: SessionState
    package let createdAt: Date
    /// When its clocks last started: at creation or renewal.
    package var renewedAt: Date
    /// When it was last used for an action.
    package var lastUsedAt: Date
    /// When it was challenged, if it is.
    package var challengedAt: Date?

    /// Joins the parts, as read from a row or decided at creation.
    package init(
        id: SessionID, tokenHash: Digest256, userID: UserID, providerID: ProviderID, externalID: String,
        applicationID: ApplicationID, deviceID: DeviceID, thumbprint: Digest256, providerKeyID: ProviderKeyID,
        state: SessionState, createdAt: Date, renewedAt: Date, lastUsedAt: Date, challengedAt: Date?
    ) {
        self.id = id
        self.tokenHash = tokenHash
        self.userID = userID
        self.providerID = providerID
        self.externalID = externalID
        self.applicationID = applicationID
        self.deviceID = deviceID
        self.thumbprint = thumbprint
        self.providerKeyID = providerKeyID
        self.state = state
        self.createdAt = createdAt
        self.renewedAt = renewedAt
        self.lastUsedAt = lastUsedAt
        self.challengedAt = challengedAt
    }

    /// A session that was drafted before its user was known, and the time.
    package init(_ draft: Session, of user: User, at now: Date) {
        self.init(
            id: draft.id, tokenHash: draft.tokenHash, userID: user.id, providerID: user.providerID,
            externalID: user.externalID, applicationID: draft.applicationID, deviceID: draft.deviceID,
            thumbprint: draft.thumbprint, providerKeyID: draft.providerKeyID, state: draft.state, createdAt: now,
            renewedAt: now, lastUsedAt: now, challengedAt: nil)
    }

    /// What a session is at a moment.
    package enum EffectiveState: String, Sendable, Equatable {
        case authenticated
        case challenged
        case expired
        case destroyed

        /// The state of the machine that it comes to: what has expired is over.
        package var machineState: SessionState {
            switch self {
            case .authenticated: .authenticated
            case .challenged: .challenged
            case .expired, .destroyed: .unauthenticated
            }
        }
    }

    /// Judges the stored state by the clock: an idle session counts as challenged from the moment its idle time
    /// ended, a challenged one expires when it was not renewed in time, any expires at its absolute end.
    package func effectiveState(at now: Date, policy: SessionPolicy) -> EffectiveState {
        guard state != .unauthenticated else { return .destroyed }
        guard let challenged = challengeMoment(now: now, policy: policy) else {
            return now < renewedAt.addingTimeInterval(policy.absoluteLifetime) ? .authenticated : .expired
        }
        return now < challenged.addingTimeInterval(policy.renewalWindow) ? .challenged : .expired
    }

    /// When this session was or will have been challenged, seen from `now`; `nil` while it is not.
    package func challengeMoment(now: Date, policy: SessionPolicy) -> Date? {
        if let challengedAt { return challengedAt }
        let idleEnd = lastUsedAt.addingTimeInterval(policy.idleLifetime)
        let absoluteEnd = renewedAt.addingTimeInterval(policy.absoluteLifetime)
        return now >= idleEnd && idleEnd < absoluteEnd ? idleEnd : nil
    }

    /// When it ends unless it is used, renewed or destroyed before.
    package func expiry(policy: SessionPolicy) -> Date {
        if let challengedAt { return challengedAt.addingTimeInterval(policy.renewalWindow) }
        return renewedAt.addingTimeInterval(policy.absoluteLifetime)
    }

    /// Refuses what a session may not do at this moment.
    ///
    /// - Throws: ``Refusal`` `session_challenged`, `session_expired` or `session_destroyed`.
    package func requireAuthenticated(now: Date, policy: SessionPolicy) throws(Refusal) {
        switch effectiveState(at: now, policy: policy) {
        case .authenticated: return
        case .challenged:
            throw Refusal.sessionChallenged
        case .expired: throw Refusal.sessionExpired
        case .destroyed: throw Refusal.sessionEnded
        }
    }

    /// Refuses to act where this session is no longer the one that was let in: it was ended, challenged, or has another
    /// token since.
    ///
    /// - Throws: ``Refusal`` `session_challenged` or `session_destroyed`.
    package func requireOpen(as shown: Session) throws(Refusal) {
        guard state != .challenged else {
            throw Refusal.sessionChallenged
        }
        guard state == .authenticated, tokenHash == shown.tokenHash, userID == shown.userID,
            deviceID == shown.deviceID
        else { throw Refusal.sessionEnded }
    }
}

/// A use of a session.
package struct SessionUse: Sendable, Equatable {
    package let id: SessionID
    package let at: Date

    package init(id: SessionID, at: Date) {
        self.id = id
        self.at = at
    }
}
