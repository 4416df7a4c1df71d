import Domain
import Encoding
import Foundation
import Synchronization

/// Verified bearer tokens of providers' backends, so that a token is verified once and not for each call.
///
/// A token is valid as long as its provider's cached object is the same: every change of the provider or its keys
/// replaces the object. A client assertion is never cached, because it is valid once.
final class VerifiedBearers: Sendable {
    struct Bearer: Sendable {
        let provider: CachedProvider
        let keyID: ProviderKeyID
        /// The scopes of an access token; `nil` for a provider token, which permits all reading and ending of sessions.
        let scopes: Set<ProviderScope>?
        let verifiedAt: Date
        let expiresAt: Date

        func permits(_ scope: ProviderScope, at moment: Date) -> Bool {
            // If the clock was set back, the complete verification must decide.
            verifiedAt <= moment && moment < expiresAt && scopes?.contains(scope) ?? true
        }
    }

    private struct State {
        var bearers: [Digest256: Bearer] = [:]
        /// The digests of each provider's tokens, oldest first.
        var order: [ProviderID: [Digest256]] = [:]
    }

    /// The maximum number of tokens for each provider. The newest stay, so a provider with a new token for each call
    /// does not displace others.
    static let perProvider = 64

    private let state = Mutex(State())

    /// The token with a SHA-256 digest.
    func known(_ digest: Digest256) -> Bearer? { state.withLock { $0.bearers[digest] } }

    func remember(_ bearer: Bearer, _ digest: Digest256) {
        state.withLock { state in
            let id = bearer.provider.provider.id
            var order = state.order[id] ?? []
            if state.bearers.updateValue(bearer, forKey: digest) == nil { order.append(digest) }
            if order.count > Self.perProvider { state.bearers[order.removeFirst()] = nil }
            state.order[id] = order
        }
    }

    var count: Int { state.withLock { $0.bearers.count } }
}
