import Domain
import Encoding
import Foundation
import Synchronization

/// Tokens of providers' backends that this process has verified, so that one is verified once and not for each call.
///
/// A token counts as long as its provider is remembered as it was then: every change of the provider or its keys has it
/// read anew. A client assertion is never among them, since it counts once.
final class VerifiedBearers: Sendable {
    struct Bearer: Sendable {
        let provider: CachedProvider
        let keyID: ProviderKeyID
        /// What it permits; `nil` for a provider token, which permits every read and end.
        let scopes: Set<ProviderScope>?
        let verifiedAt: Date
        let expiresAt: Date

        func permits(_ scope: ProviderScope, at moment: Date) -> Bool {
            // A clock that was set back is for the whole verification to judge.
            verifiedAt <= moment && moment < expiresAt && scopes?.contains(scope) ?? true
        }
    }

    private struct State {
        var bearers: [Digest256: Bearer] = [:]
        /// The tokens of each provider, oldest first.
        var order: [ProviderID: [Digest256]] = [:]
    }

    /// For each provider the newest are remembered: one that signs a token for each call takes no other's place.
    static let perProvider = 64

    private let state = Mutex(State())

    /// The token with a SHA-256.
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
