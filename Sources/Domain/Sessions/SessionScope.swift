import Encoding

/// Which sessions a change is about.
package enum SessionScope: Sendable, Hashable {
    case session(SessionID)
    case user(UserID)
    case device(DeviceID)
}

/// A session that a change has ended, as far as others must be told of it.
package struct EndedSession: Sendable, Equatable {
    package let id: SessionID
    /// SHA-256 of its token, by which nodes remember it.
    package let tokenHash: Digest256
    package let userID: UserID
    package let providerID: ProviderID

    package init(id: SessionID, tokenHash: Digest256, userID: UserID, providerID: ProviderID) {
        self.id = id
        self.tokenHash = tokenHash
        self.userID = userID
        self.providerID = providerID
    }

    package init(_ session: Session) {
        self.init(
            id: session.id, tokenHash: session.tokenHash, userID: session.userID, providerID: session.providerID)
    }
}

/// Why sessions end.
package enum SessionEnding: String, Sendable, CaseIterable {
    case byUser = "by_user"
    case superseded
    /// At the provider's call, which the audit log keeps.
    case byProvider = "by_provider"
    /// By a Security Event Token, which its sender keeps.
    case byProviderEvent = "by_provider_event"
    case byAdmin = "by_admin"
    case providerDisabled = "provider_disabled"
    case providerKeyRevoked = "provider_key_revoked"
    case certificateRevoked = "certificate_revoked"
    case deviceRevoked = "device_revoked"
    case banned
    case userErased = "user_erased"

    /// What is kept with the sessions.
    package var text: String {
        switch self {
        case .byUser: "ended by its user"
        case .superseded: "superseded by a newer session"
        case .byProvider, .byProviderEvent: "ended by its provider"
        case .byAdmin: "ended by an admin"
        case .providerDisabled: "provider disabled"
        case .providerKeyRevoked: "provider key revoked"
        case .certificateRevoked: "certificate revoked"
        case .deviceRevoked: "device revoked"
        case .banned: "banned"
        case .userErased: "the user was erased"
        }
    }
}
