import Database
import Foundation
import Identity
import Records
import Tokens

/// Who calls from a provider's side, proved by a token that one of its keys signed.
public struct AuthenticateProvider: Sendable {
    private let realm: String
    private let store: any Database
    private let providers: KnownProviders
    private let watch: StoreWatch
    private let policy: CurrentPolicy
    private let surroundings: Surroundings

    /// Authenticates for a realm.
    public init(
        realm: String, store: any Database, providers: KnownProviders, watch: StoreWatch, policy: CurrentPolicy,
        surroundings: Surroundings
    ) {
        self.realm = realm
        self.store = store
        self.providers = providers
        self.watch = watch
        self.policy = policy
        self.surroundings = surroundings
    }

    /// Reads a provider token (`Authorization: Bearer …`).
    ///
    /// - Throws: ``Refusal`` `provider_token_required` or `provider_token_invalid`.
    public func callAsFunction(_ bearer: String?) async throws -> KnownProvider {
        let (token, known) = try await read(bearer)
        _ = try verifier.verify(
            token, provider: known?.provider, key: known?.key(token.keyID), now: surroundings.now())
        guard let known else { throw Refusal(.providerTokenInvalid, "iss names no provider.") }
        return known
    }

    /// Reads a fresh proof, made for this one request, and spends it.
    ///
    /// - Parameter body: the bytes whose digest the proof holds.
    public func fresh(_ bearer: String?, body: [UInt8]) async throws -> (KnownProvider, ProviderKeyID) {
        let (token, known) = try await read(bearer)
        let proof = try verifier.verifyFresh(
            token, body: body, provider: known?.provider, key: known?.key(token.keyID), now: surroundings.now())
        guard let known else { throw Refusal(.providerTokenInvalid, "iss names no provider.") }
        let isNew = try await store.decide {
            try NonceRecords($0).spend(
                identifier: "proof \(proof.identifier)", of: proof.token.provider, until: proof.rememberUntil)
        }
        guard isNew else { throw Refusal(.providerTokenInvalid, "jti was used before: make a proof for each request.") }
        return (known, proof.token.keyID)
    }

    private var verifier: ProviderTokenVerifier {
        ProviderTokenVerifier(realm: realm, clockSkew: policy[\.identityTokens].clockSkew)
    }

    private func read(_ bearer: String?) async throws -> (UnverifiedToken, KnownProvider?) {
        try watch.requireFresh()
        guard let bearer else {
            throw Refusal(.providerTokenRequired, "Send Authorization: Bearer with a provider token.")
        }
        let token = try UnverifiedToken(bearer, refusing: .providerTokenInvalid)
        return (token, try await providers.find(token.issuer))
    }
}
