import Database
import Domain
import Foundation
import Repositories
import Tokens

/// A provider's backend, and the key by which it proved itself.
package struct ProvenProvider: Sendable {
    /// The provider as this process knows it.
    package let known: CachedProvider
    package let keyID: ProviderKeyID

    /// The provider's id.
    package var id: ProviderID { known.provider.id }

    /// Looks at the key and the provider again, in the transaction that acts: between the proof and now either may have
    /// ended, and a node's memory may not know it yet.
    ///
    /// - Throws: `Refusal` `provider_token_invalid`.
    func requireActive(in transaction: any Transaction) throws {
        try Self.requireActive(keyID, of: id, in: transaction)
    }

    static func requireActive(
        _ key: ProviderKeyID, of provider: ProviderID, in transaction: any Transaction
    ) throws {
        guard try ProviderKeyRepository(transaction).mayAct(key, for: provider) else {
            throw Refusal(
                .providerTokenInvalid, "The key that signed the token, or its provider, does not count any more.")
        }
    }
}

/// Who calls from a provider's side, proved by a token that one of its keys signed.
package struct AuthenticateProvider: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Reads a provider token (`Authorization: Bearer …`).
    ///
    /// - Throws: `Refusal` `provider_token_required` or `provider_token_invalid`.
    package func callAsFunction(_ bearer: String?) async throws -> ProvenProvider {
        let (token, known) = try await read(bearer)
        let verified = try verifier.verify(
            token, provider: known?.provider, key: known?.key(token.keyID), now: context.environment.now())
        guard let known else { throw Refusal(.providerTokenInvalid, "iss names no provider.") }
        return ProvenProvider(known: known, keyID: verified.keyID)
    }

    /// Reads a fresh proof, made for this one request, and spends it: it counts once, whatever becomes of the request.
    package func fresh(_ bearer: String?, for request: ProvenRequest) async throws -> ProvenProvider {
        let (token, known) = try await read(bearer)
        let proof = try verifier.verifyFresh(
            token, request: request, provider: known?.provider, key: known?.key(token.keyID),
            now: context.environment.now())
        guard let known else { throw Refusal(.providerTokenInvalid, "iss names no provider.") }
        let isNew = try await context.store.transaction {
            try NonceRepository($0).spend(
                identifier: "proof \(proof.identifier)", of: proof.token.provider, until: proof.rememberUntil)
        }
        guard isNew else { throw Refusal(.providerTokenInvalid, "jti was used before: make a proof for each request.") }
        return ProvenProvider(known: known, keyID: proof.token.keyID)
    }

    private var verifier: ProviderTokenVerifier {
        ProviderTokenVerifier(realm: context.realm, clockSkew: context.policy[\.identityTokens].clockSkew)
    }

    private func read(_ bearer: String?) async throws -> (UnverifiedToken, CachedProvider?) {
        try context.invalidator.requireFresh()
        guard let bearer else {
            throw Refusal(.providerTokenRequired, "Send Authorization: Bearer with a provider token.")
        }
        let token = try UnverifiedToken(bearer, refusing: .providerTokenInvalid)
        return (token, try await context.caches.providers.find(token.issuer))
    }
}
