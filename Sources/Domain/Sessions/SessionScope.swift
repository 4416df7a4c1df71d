import Encoding

/// Which sessions a change is about.
package enum SessionScope: Sendable, Hashable {
    case session(SessionID)
    case user(UserID)
    case device(DeviceID)
    case provider(ProviderID)
    case providerKey(ProviderKeyID)
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
}

/// Why sessions end.
package enum SessionEnding: Sendable, CaseIterable {
    case byUser
    case superseded
    /// At the provider's call, which the audit log keeps.
    case byProvider
    /// By a Security Event Token, which its sender keeps.
    case byProviderEvent
    case byAdmin
    case providerDisabled
    case providerKeyRevoked
    case certificateRevoked
    case deviceRevoked
    case banned
    case userErased

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
