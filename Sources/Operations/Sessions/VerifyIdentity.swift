import Domain
import Encoding
import Foundation
import Tokens

/// The content of a verified identity token, with the nonce to spend.
struct VerifiedIdentity: Sendable {
    let token: IdentityToken
    let known: CachedProvider
    /// Its nonce: issued by this service to this certificate, not yet spent here.
    let nonce: Nonce

    /// The provider's claims about the user.
    var profile: UserProfile {
        UserProfile(displayName: token.displayName, avatarURL: token.avatarURL)
    }
}

/// The kinds of token that identify a user.
package enum IdentityProof: Sendable {
    /// An identity token, or an ID token of an issuer.
    case any
    /// An identity token as the assertion of a grant, which names subject and audience (RFC 7523 §3).
    case assertion
    /// An ID token as the subject of a token exchange (RFC 8693 §3).
    case idToken
}

extension Service {
    /// Verifies an identity token without a transaction. It counts the attempt, then verifies signature, claims and
    /// nonce, in this order, so unsigned content is never evaluated.
    ///
    /// - Parameter trace: receives what the token says, also of a refused one.
    /// - Throws: `Refusal` `invalid_identity_token` with the contract's reasons; `rate_limited`.
    func verifyIdentity(
        _ compact: String, as proof: IdentityProof = .any, on connection: ClientConnection, _ trace: SignInTrace
    ) async throws -> VerifiedIdentity {
        if rateLimiting == .on {
            try connection.certificate?.identityTokens.count(
                limit: RateLimit(count: policy[\.sessions].createdPerMinute, per: 60),
                now: environment.now())
        }
        let unverified = try UnverifiedToken(compact, upTo: UnverifiedToken.maximumIdentityLength)
        let isIDToken =
            switch proof {
            case .any: IDTokenVerifier.isNamed(by: unverified)
            case .assertion: false
            case .idToken: true
            }
        let (token, known) =
            isIDToken
            ? try await verifyIDToken(unverified, trace)
            : try await verify(unverified, isGrant: proof == .assertion, trace)
        let nonce = try Nonce(shown: token.nonce, thumbprint: connection.thumbprint, key: keys.nonces)
        return VerifiedIdentity(token: token, known: known, nonce: nonce)
    }

    private func verify(
        _ unverified: UnverifiedToken, isGrant: Bool, _ trace: SignInTrace
    ) async throws -> (IdentityToken, CachedProvider) {
        let known = try await caches.providers.find(unverified.issuer)
        let key = known?.key(unverified.keyID)
        trace.note(unverified, of: known, key: key == nil ? nil : unverified.keyID)
        let verifier = IdentityTokenVerifier(
            realm: realm, endpoints: urls.audiences, isGrant: isGrant,
            policy: policy[\.identityTokens])
        let token = try verifier.verify(
            unverified, provider: known?.provider, key: key, now: environment.now()
        ) { ProvenParties.note($0) }
        guard let known else {
            throw Refusal.unknownIssuer
        }
        return (token, known)
    }

    private func verifyIDToken(
        _ unverified: UnverifiedToken, _ trace: SignInTrace
    ) async throws -> (IdentityToken, CachedProvider) {
        var known = try await IssuerKeys(self).provider(of: unverified)
        // Without the audience of a provider, it is another one with the issuer, which learns nothing of this user.
        let isNamed =
            known?.provider.issuer?.audiences.contains { own in
                unverified.audiences.contains { $0.hasSameBytes(as: own) }
            } ?? false
        if isNamed { trace.note(unverified, of: known, key: nil) }
        if let found = known, found.provider.disabledAt == nil, let issuer = found.provider.issuer {
            known = try await IssuerKeys(self).current(found, of: issuer, for: unverified.header)
        }
        let verifier = IDTokenVerifier(clockSkew: policy[\.identityTokens].clockSkew)
        func verify(by known: CachedProvider?) throws(Refusal) -> IdentityToken {
            let key = known?.issuerKey(of: unverified.header)
            if isNamed { trace.note(unverified, of: known, key: key?.id) }
            return try verifier.verify(unverified, provider: known?.provider, key: key, now: environment.now())
        }
        let token: IdentityToken
        do throws(Refusal) {
            token = try verify(by: known)
        } catch {
            guard error.reason == .badSignature else { throw error }
            guard let before = known, let issuer = before.provider.issuer else { throw error }
            let now = try await IssuerKeys(self).current(before, of: issuer, for: unverified.header, doubtful: true)
            // Without another key the result would be the same.
            guard now.issuerKey(of: unverified.header)?.id != before.issuerKey(of: unverified.header)?.id else {
                throw error
            }
            token = try verify(by: now)
            known = now
        }
        guard let known else {
            throw Refusal.unknownIssuer
        }
        ProvenParties.note(known.provider.id)
        try await IssuerKeys(self).audit(token, of: known.provider)
        return (token, known)
    }
}
