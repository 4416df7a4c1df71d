import Database
import Domain
import Repositories
import Tokens

package extension Service {
    /// Adds a provider's own key, from the key text and proof in the request. The key records the key that signed for
    /// it.
    ///
    /// - Throws: `Refusal` `invalid_provider_key`, `conflict` if the key is already registered,
    ///   `provider_token_invalid` if the signing key or the provider ended meanwhile.
    func addOwnKey(
        keyText: String, algorithm: String?, proof: String, by caller: FreshProof
    ) async throws -> ProviderKeyID {
        let named = try algorithm.map { name throws(Refusal) in
            guard let known = SignatureAlgorithm(rawValue: name) else {
                throw Refusal.unknownAlgorithm
            }
            return known
        }
        let key = try VerificationKey(text: keyText, algorithm: named)
        _ = try KeyPossessionProof(proof, of: key, by: caller.id, realm: realm, now: environment.now())
        let id: ProviderKeyID = environment.newIdentifier()
        try await write { transaction, events in
            try ProviderKeyChanges(
                actor: "provider \(caller.id)", requester: caller.provider, transaction: transaction
            ).add(key, as: id, to: caller.id, &events)
        }
        return id
    }

    /// Revokes a provider's own key and all keys that it added.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` with the state that forbids it, `provider_token_invalid`.
    @discardableResult
    func revokeOwnKey(
        _ id: ProviderKeyID, endingSessions: Bool, by caller: FreshProof
    ) async throws -> ProviderKeyRevocation {
        try await write { transaction, events in
            try ProviderKeyChanges(
                actor: "provider \(caller.id)", requester: caller.provider, transaction: transaction
            ).revoke(id, endingSessions: endingSessions, keepingAdded: false, reason: nil, &events)
        }
    }
}

package extension Administration {
    /// Adds a key to a provider.
    ///
    /// - Throws: `Refusal` `conflict` if the key is already registered.
    func addProviderKey(_ key: VerificationKey, to provider: ProviderID) async throws -> ProviderKeyID {
        let id: ProviderKeyID = environment.newIdentifier()
        try await write(.manage) { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction)
                .add(key, as: id, to: provider, &events)
        }
        return id
    }

    /// Retires a provider's key: it opens no new sessions, and existing ones continue.
    ///
    /// - Returns: whether the provider has no key left to sign with, but had one before.
    /// - Throws: `Refusal` `not_found`, or `conflict` for a key of an issuer's key set.
    @discardableResult
    func retireProviderKey(_ id: ProviderKeyID) async throws -> Bool {
        try await write(.manage) { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction).retire(id, &events)
        }
    }

    /// The result that ``retireProviderKey(_:)`` would return. Nothing is changed.
    func previewRetirement(of id: ProviderKeyID) async throws -> Bool {
        try await read(.manage) {
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: $0).previewRetirement(id)
        }
    }

    /// The effects that a revocation would have. Nothing is changed.
    ///
    /// - Throws: `Refusal` `not_found`.
    func previewRevocation(
        of id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false
    ) async throws -> ProviderKeyRevocation {
        // Not in the transaction of the change, which would conflict with each sign-in of the provider.
        try await read(.manage) {
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: $0)
                .preview(id, endingSessions: endingSessions, keepingAdded: keepingAdded)
        }
    }

    /// Revokes a provider's key and, unless they must stay, the keys that it added. Ends the sessions that they opened
    /// if requested.
    ///
    /// - Throws: `Refusal` `not_found`.
    @discardableResult
    func revokeProviderKey(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false, reason: AuditReason? = nil
    ) async throws -> ProviderKeyRevocation {
        let count = try await previewRevocation(
            of: id, endingSessions: endingSessions, keepingAdded: keepingAdded
        ).sessionsEnded
        var done = try await write(.manage) { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction)
                .revoke(id, endingSessions: endingSessions, keepingAdded: keepingAdded, reason: reason, &events)
        }
        done.sessionsEnded = count
        return done
    }
}
