import Encoding

/// What a session hangs on. Each has a generation that only rises; a session of an earlier one has ended.
package enum RevocationScope: Sendable, Hashable {
    case user(UserID)
    case device(DeviceID)
    case provider(ProviderID)
    case providerKey(ProviderKeyID)
}

/// The generations that a session was opened in.
package struct SessionGenerations: Sendable, Equatable {
    package let user: Int64
    package let device: Int64
    package let provider: Int64
    package let key: Int64

    package init(user: Int64, device: Int64, provider: Int64, key: Int64) {
        (self.user, self.device, self.provider, self.key) = (user, device, provider, key)
    }

    /// Those of whatever no cut has met yet.
    package static let first = SessionGenerations(user: 0, device: 0, provider: 0, key: 0)
}
