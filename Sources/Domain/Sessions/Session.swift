import Encoding
import Foundation

package extension Session.State {
    /// What can happen to a session.
    enum Event: String, Sendable, CaseIterable {
        case create
        case challenge
        case renew
        case destroy
    }

    /// The cause of an event.
    enum Caller: Sendable, CaseIterable {
        /// The device, over its connection.
        case device
        /// The service, by itself or for a provider, an admin or a ban.
        case service
    }

    /// The state after an event; `nil` if the protocol does not allow it.
    ///
    /// Without a connection only the service can destroy or challenge a session, for example for a ban or a provider's
    /// logout. Expiry by time is not an event: see ``Session/effectiveState(at:policy:)``.
    func after(
        _ event: Event, while connection: ConnectionState, by caller: Caller = .device
    ) -> Session.State? {
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

/// A user's session on a device, bound to the certificate under which it was created (RFC 8705 §3).
package struct Session: Sendable, Equatable {
    package let id: SessionID
    /// SHA-256 of its token. Only the device has the token itself.
    package var tokenHash: Digest256
    package let userID: UserID
    /// The provider that identified the user.
    package let providerID: ProviderID
    /// The provider's own name for the user.
    package let externalID: String
    /// The app it was opened for.
    package let applicationID: ApplicationID
    /// The device that it belongs to.
    package let deviceID: DeviceID
    /// SHA-256 of the device's certificate: the confirmation `x5t#S256`.
    package var thumbprint: Digest256
    /// The provider's key that signed the identity token which opened or last renewed it.
    package var providerKeyID: ProviderKeyID
    /// The stored state; ``effectiveState(at:policy:)`` also considers the clock.
    package var state: State
    package let createdAt: Date
    /// When its lifetime last started: at its creation or renewal.
    package var renewedAt: Date
    /// When it was last used for an action.
    package var lastUsedAt: Date
    /// When it was challenged; `nil` if it is not.
    package var challengedAt: Date?

    package init(
        id: SessionID, tokenHash: Digest256, userID: UserID, providerID: ProviderID, externalID: String,
        applicationID: ApplicationID, deviceID: DeviceID, thumbprint: Digest256, providerKeyID: ProviderKeyID,
        state: State, createdAt: Date, renewedAt: Date, lastUsedAt: Date, challengedAt: Date?
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

    /// When this session was challenged, or became idle before `now`; `nil` if neither happened.
    func challengeMoment(now: Date, policy: SessionPolicy) -> Date? {
        if let challengedAt { return challengedAt }
        let idleEnd = lastUsedAt.addingTimeInterval(policy.idleLifetime)
        let absoluteEnd = renewedAt.addingTimeInterval(policy.absoluteLifetime)
        return now >= idleEnd && idleEnd < absoluteEnd ? idleEnd : nil
    }
}

package extension Session {
    /// Completes a session that was drafted before its user and the time were known.
    init(_ draft: Session, of user: User, at now: Date) {
        self.init(
            id: draft.id, tokenHash: draft.tokenHash, userID: user.id, providerID: user.providerID,
            externalID: user.externalID, applicationID: draft.applicationID, deviceID: draft.deviceID,
            thumbprint: draft.thumbprint, providerKeyID: draft.providerKeyID, state: draft.state, createdAt: now,
            renewedAt: now, lastUsedAt: now, challengedAt: nil)
    }

    /// The state of a session, which decides what its holder may do: the inner one of the protocol's two state machines.
    enum State: String, Sendable, CaseIterable {
        /// The session does not exist, or has ended.
        case unauthenticated
        /// All actions of the API are allowed.
        case authenticated
        /// Only renewal and destruction are allowed.
        case challenged
    }

    struct Use: Sendable, Equatable {
        package let id: SessionID
        package let at: Date

        package init(id: SessionID, at: Date) {
            self.id = id
            self.at = at
        }
    }

    /// The state of a session at a point in time.
    enum EffectiveState: String, Sendable, Equatable {
        case authenticated
        case challenged
        case expired
        case destroyed

        /// The state of the state machine; an expired session is unauthenticated.
        package var machineState: State {
            switch self {
            case .authenticated: .authenticated
            case .challenged: .challenged
            case .expired, .destroyed: .unauthenticated
            }
        }
    }

    /// The stored state, corrected by the clock. A session is challenged as soon as its idle time ends. A challenged
    /// session expires if it is not renewed in time. Every session expires at its absolute end.
    func effectiveState(at now: Date, policy: SessionPolicy) -> EffectiveState {
        guard state != .unauthenticated else { return .destroyed }
        guard let challenged = challengeMoment(now: now, policy: policy) else {
            return now < renewedAt.addingTimeInterval(policy.absoluteLifetime) ? .authenticated : .expired
        }
        return now < challenged.addingTimeInterval(policy.renewalWindow) ? .challenged : .expired
    }

    /// When it expires if it is not used, renewed or destroyed before.
    func expiry(policy: SessionPolicy) -> Date {
        if let challengedAt { return challengedAt.addingTimeInterval(policy.renewalWindow) }
        return renewedAt.addingTimeInterval(policy.absoluteLifetime)
    }

    /// Refuses actions that require an authenticated session.
    ///
    /// - Throws: ``Refusal`` `session_challenged`, `session_expired` or `session_destroyed`.
    func requireAuthenticated(now: Date, policy: SessionPolicy) throws(Refusal) {
        switch effectiveState(at: now, policy: policy) {
        case .authenticated: return
        case .challenged:
            throw Refusal.sessionChallenged
        case .expired: throw Refusal.sessionExpired
        case .destroyed: throw Refusal.sessionEnded
        }
    }

    /// Refuses if this session has changed since it was admitted: it was ended or challenged, or has a new token.
    ///
    /// - Throws: ``Refusal`` `session_challenged` or `session_destroyed`.
    func requireOpen(as shown: Session) throws(Refusal) {
        guard state != .challenged else {
            throw Refusal.sessionChallenged
        }
        guard state == .authenticated, tokenHash == shown.tokenHash, userID == shown.userID,
            deviceID == shown.deviceID
        else { throw Refusal.sessionEnded }
    }
}
