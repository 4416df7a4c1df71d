import Encoding

/// The sessions that a change affects.
package enum SessionScope: Sendable, Hashable {
    case session(SessionID)
    case user(UserID)
    case device(DeviceID)
}

/// The facts about an ended session that other parts need.
package struct EndedSession: Sendable, Equatable {
    package let id: SessionID
    /// SHA-256 of its token, the key of nodes' caches.
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

/// The reason why sessions ended.
package enum SessionEnding: String, Sendable, CaseIterable {
    case byUser = "by_user"
    case superseded
    /// The provider requested it by a call, which is in the audit log.
    case byProvider = "by_provider"
    /// The provider requested it by a Security Event Token. The sender keeps the record.
    case byProviderEvent = "by_provider_event"
    case byAdmin = "by_admin"
    case providerDisabled = "provider_disabled"
    case providerKeyRevoked = "provider_key_revoked"
    case certificateRevoked = "certificate_revoked"
    case deviceRevoked = "device_revoked"
    case banned
    case userErased = "user_erased"

    /// The text that is stored with the sessions.
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
