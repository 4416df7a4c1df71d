import Encoding
import Foundation

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

/// The end of all sessions of a scope, by raising the scope's generation. The rows of the sessions are updated later.
package struct BulkRevocation: Sendable, Equatable {
    package let scope: RevocationScope
    /// The generation that it began. Sessions of earlier ones have ended.
    package let generation: Int64
    package let why: SessionEnding
    package let at: Date
    /// How many rows were updated so far.
    package var ended: Int64

    package init(scope: RevocationScope, generation: Int64, why: SessionEnding, at: Date, ended: Int64) {
        (self.scope, self.generation, self.why, self.at, self.ended) = (scope, generation, why, at, ended)
    }
}
