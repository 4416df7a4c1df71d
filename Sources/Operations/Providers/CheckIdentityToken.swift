import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

package extension Service {
    /// Every defect and every claim that a session would ignore, each with a sentence, and the token's `iat` minus this
    /// server's clock, in seconds; `nil` if it cannot be measured.
    typealias IdentityTokenReport = (
        defects: [(reason: Refusal.Reason, detail: String)], ignored: [(name: String, detail: String)], clockSkew: Int?
    )

    /// Every defect of an identity token at once, for a provider's developer. It creates and spends nothing. For
    /// another provider's token it returns `unknown_issuer` only.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` if the caller's key was revoked after it authenticated.
    func checkIdentityToken(
        _ identityToken: String, for caller: ProvenProvider
    ) async throws -> IdentityTokenReport {
        try await read { try caller.requireActive(in: $0) }
        return try await report(on: identityToken, of: caller.known)
    }

    /// Every defect of an identity token at once, for an administrator whose right was checked.
    ///
    /// - Throws: `Refusal` `not_found`.
    func checkIdentityToken(_ identityToken: String, of provider: Provider) async throws -> IdentityTokenReport {
        guard let known = try await caches.providers.find(provider.id) else {
            throw Refusal.unknownProvider(provider.slug.text)
        }
        return try await report(on: identityToken, of: known)
    }

    private func report(on identityToken: String, of known: CachedProvider) async throws -> IdentityTokenReport {
        let now = environment.now()
        let check = check(identityToken, of: known, now: now)
        var defects = check.defects.map { (reason: $0.reason, detail: $0.detail) }
        if let nonce = check.nonce { defects += try await nonceDefects(nonce, now: now) }
        return (defects, check.ignored.map { (name: $0.name, detail: $0.detail) }, check.clockSkew)
    }

    /// An ID token is verified by the known keys of the issuer. A check fetches no key set.
    private func check(_ text: String, of known: CachedProvider, now: Date) -> TokenCheck {
        let policy = policy[\.identityTokens]
        if known.provider.issuer != nil,
            let token = try? UnverifiedToken(text, upTo: UnverifiedToken.maximumIdentityLength),
            IDTokenVerifier.isNamed(by: token)
        {
            return IDTokenVerifier(clockSkew: policy.clockSkew).check(
                token, provider: known.provider, key: known.issuerKey(of: token.header), now: now)
        }
        let verifier = IdentityTokenVerifier(
            realm: realm, endpoints: urls.audiences, policy: policy)
        return verifier.check(text, provider: known.provider, keys: Array(known.keys.values), now: now)
    }

    /// The device is unknown here, so only a nonce's origin, age and use are checked.
    private func nonceDefects(_ text: String, now: Date) async throws -> [(reason: Refusal.Reason, detail: String)] {
        guard let nonce = Nonce(issuedHere: text, key: keys.nonces) else {
            return [(.nonceUnknown, "This service did not issue the nonce in the token.")]
        }
        if nonce.expiresAt <= now {
            let late = Int(saturating: now.timeIntervalSince(nonce.expiresAt).rounded(.up))
            return [(.nonceExpired, "The nonce in the token expired \(late) s ago.")]
        }
        let isSpent = try await read { try NonceRepository($0).isSpent(nonce) }
        return isSpent ? [(.nonceUsed, "The nonce in the token was used before.")] : []
    }
}
