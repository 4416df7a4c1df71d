import Database
import Domain
import Repositories
import Tokens

/// A provider adds a key of its own over HTTP.
package struct AddOwnKey: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// Adds a key, key text and proof as they came: the key remembers the one that signed for it.
    ///
    /// - Throws: `Refusal` `invalid_provider_key`, `conflict` where the key is known already, `provider_token_invalid`
    ///   where the key that signed, or the provider, ended meanwhile.
    package func callAsFunction(
        keyText: String, algorithm: String?, proof: String, by caller: FreshProof
    ) async throws -> ProviderKeyID {
        let named = try algorithm.map { name throws(Refusal) in
            guard let known = SignatureAlgorithm(rawValue: name) else {
                throw Refusal.unknownAlgorithm
            }
            return known
        }
        let key = try VerificationKey(text: keyText, algorithm: named)
        _ = try KeyPossessionProof(
            proof, of: key, by: caller.id, realm: context.realm, now: context.environment.now())
        let id: ProviderKeyID = context.environment.newIdentifier()
        try await context.write { transaction, events in
            try ProviderKeyChanges(
                actor: "provider \(caller.id)", requester: caller.provider, transaction: transaction
            ).add(key, as: id, to: caller.id, &events)
        }
        return id
    }
}
