import Domain
import Foundation

/// A provider's proof that it has the private half of a key that it wants to add (compare RFC 8555 §7.3.5, RFC 7800).
///
/// A compact JWS by the new key. The payload's `iss` or `sub` (both only if equal) is the provider id. `iat` and
/// `exp` are at most ten minutes apart; `aud`, if present, names the realm. `kid`, `typ` and `cty` are optional,
/// because the key has no id yet. A repeated proof has no effect, because a key is registered only once.
package struct KeyPossessionProof: Sendable {
    /// The key whose possession is proved.
    let key: VerificationKey
    let provider: ProviderID

    /// Verifies a proof.
    ///
    /// - Parameters:
    ///   - key: the new key; the proof's `alg` must be its algorithm.
    ///   - provider: the calling provider, known by a verified provider token.
    /// - Throws: `Refusal` `invalid_provider_key` with reason `bad_proof`.
    package init(
        _ compact: String, of key: VerificationKey, by provider: ProviderID, realm: String,
        clockSkew: TimeInterval = 60,
        now: Date
    ) throws(Refusal) {
        let token = try UnverifiedToken(compact, refusing: .invalidProviderKey)
        if let defect = token.header.typeDefect(required: false) { throw defect.refusal(.invalidProviderKey) }
        guard token.header.algorithm == key.algorithm.rawValue else {
            throw Refusal.keyProofAlgorithm(expected: key.algorithm.rawValue)
        }
        guard key.isValid(signature: token.signature, over: token.signingInput) else {
            throw Refusal.keyProofSignatureInvalid
        }
        var claims = ClaimReader(token.payload)
        let names = ["iss", "sub"].filter(claims.has)
        let named = names.map { claims.text($0, bytes: 36...36) }
        _ = claims.validity(
            now: now, clockSkew: clockSkew, maximumLifetime: TokenProfile.keyPossession.maximumLifetime)
        claims.audience(realm: realm, required: TokenProfile.keyPossession.requiresAudience)
        if let defect = claims.defects.first { throw defect.refusal(.invalidProviderKey) }
        guard !named.isEmpty, named.allSatisfy({ ProviderID($0) == provider }) else {
            throw Refusal.keyProofOfAnotherProvider
        }
        self.key = key
        self.provider = provider
    }
}
