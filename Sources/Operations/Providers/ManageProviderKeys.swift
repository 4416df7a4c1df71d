import Database
import Domain
import Foundation
import Repositories
import Tokens

/// A provider's keys and apps, changed by an admin or, within bounds, by the provider itself.
package struct ManageProviderKeys: Sendable {
    private let store: any Database
    private let watch: CacheInvalidator?
    private let environment: Environment

    /// Changes keys in a store.
    package init(store: any Database, watch: CacheInvalidator?, environment: Environment) {
        self.store = store
        self.watch = watch
        self.environment = environment
    }

    /// Adds a key in an admin's name.
    ///
    /// - Throws: `Refusal` `conflict` where the key is known already.
    package func add(_ key: VerificationKey, to provider: ProviderID, actor: String) async throws -> ProviderKeyID {
        try await add(key, to: provider, by: nil, actor: actor)
    }

    private func add(
        _ key: VerificationKey, to provider: ProviderID, by caller: ProvenProvider?, actor: String
    ) async throws -> ProviderKeyID {
        let id: ProviderKeyID = environment.newIdentifier()
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            try caller?.requireActive(in: transaction)
            let record = ProviderKeyRecord(
                id: id, providerID: provider, algorithm: key.algorithm.rawValue,
                subjectPublicKeyInfo: key.subjectPublicKeyInfo, origin: caller == nil ? .admin : .provider,
                addedBy: caller?.keyID, createdAt: transaction.now, retiredAt: nil, revokedAt: nil)
            guard try ProviderKeyRepository(transaction).insert(record) else {
                throw Refusal(.conflict, "This key is or was registered already.", state: "registered")
            }
            try AuditRepository(transaction).append(
                .providerKeyAdded, subject: "key \(id)", actor: actor,
                detail: "provider \(provider)" + (caller.map { ", signed by key \($0.keyID)" } ?? ""), id: auditID)
            try ChangeLog(transaction).announce(.provider(provider))
        }
        try await watch?.apply(.provider(provider))
        return id
    }

    /// Adds a key over HTTP, key text and proof as they came: the key remembers the one that signed for it.
    ///
    /// - Throws: `Refusal` `invalid_provider_key`, `conflict` where the key is known already, `provider_token_invalid`
    ///   where the key that signed, or the provider, ended meanwhile.
    package func add(
        keyText: String, algorithm: String?, proof: String, by caller: ProvenProvider, realm: String
    ) async throws -> ProviderKeyID {
        let named = try algorithm.map { name throws(Refusal) in
            guard let known = SignatureAlgorithm(rawValue: name) else {
                throw Refusal(.malformedRequest, "It names no algorithm of this service.", about: .algorithm)
            }
            return known
        }
        let key = try VerificationKey(text: keyText, algorithm: named)
        _ = try KeyPossessionProof(proof, of: key, by: caller.id, realm: realm, now: environment.now())
        return try await add(key, to: caller.id, by: caller, actor: "provider \(caller.id)")
    }

    /// Retires a key: nothing new is accepted from it, its sessions go on.
    package func retire(_ id: ProviderKeyID, actor: String) async throws {
        let auditID = environment.newUUID()
        let provider = try await store.transaction { transaction -> ProviderID in
            let key = try Self.find(id, in: transaction)
            try ProviderKeyRepository(transaction).retire(id, at: transaction.now)
            try AuditRepository(transaction).append(
                .providerKeyRetired, subject: "key \(id)", actor: actor, id: auditID)
            try ChangeLog(transaction).announce(.provider(key.providerID))
            return key.providerID
        }
        try await watch?.apply(.provider(provider))
    }

    package struct Revocation: Sendable {
        /// The key, and the keys that it added, in the order in which they were added.
        package let keys: [ProviderKeyID]
        package let sessionsEnded: Int
    }

    /// Revokes a key and, unless they are to stay, the keys that it added, those that these added, and so on; ends the
    /// sessions that they opened where asked.
    ///
    /// - Parameter requester: a provider and the key that it signs with, when it asks itself: then it may not touch
    ///   another's keys, those that an admin added (unless it signs with such a one), nor leave itself without one.
    @discardableResult
    package func revoke(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false, requester: ProvenProvider?,
        actor: String, reason: AuditReason? = nil
    ) async throws -> Revocation {
        let (provider, revocation) = try await store.transaction { [environment] transaction in
            try requester?.requireActive(in: transaction)
            let key = try Self.find(id, in: transaction)
            let records = ProviderKeyRepository(transaction)
            let keys = try records.list(of: key.providerID)
            let taken = [key] + (keepingAdded ? [] : keys.descendants(of: id))
            if let requester { try Self.require(requester, mayRevoke: taken, of: keys) }
            var ended = 0
            for taken in taken {
                // One that is revoked already is not revoked again, but what it opened may still live.
                try records.revoke(taken.id, at: transaction.now)
                let sessions =
                    endingSessions
                    ? try SessionRepository(transaction).end(
                        .providerKey(taken.id), at: transaction.now, reason: "provider key revoked") : 0
                ended += sessions
                let origin = taken.id == id ? "" : ", added by way of key \(id)"
                let signer = requester.map { ", signed by key \($0.keyID)" } ?? ""
                try AuditRepository(transaction).append(
                    .providerKeyRevoked, subject: "key \(taken.id)", actor: actor,
                    detail: "\(sessions) sessions ended\(origin)\(signer)", reason: reason, id: environment.newUUID())
            }
            try ChangeLog(transaction).announce(.provider(key.providerID))
            return (key.providerID, Revocation(keys: taken.map(\.id), sessionsEnded: ended))
        }
        try await watch?.apply(.provider(provider))
        return revocation
    }

    private static func require(
        _ requester: ProvenProvider, mayRevoke taken: [ProviderKeyRecord], of keys: [ProviderKeyRecord]
    ) throws {
        guard let key = taken.first, key.providerID == requester.id else {
            throw Refusal(.notFound, "The provider has no such key.")
        }
        let signing = keys.first { $0.id == requester.keyID }
        guard key.origin == .provider || signing?.origin == .admin else {
            throw Refusal(
                .conflict, "A key that was added over HTTP cannot delete one that an admin added.",
                state: "added_by_admin")
        }
        let ended = Set(taken.map(\.id))
        let others = keys.filter { !ended.contains($0.id) && $0.revokedAt == nil && $0.retiredAt == nil }
        guard !others.isEmpty || taken.allSatisfy({ $0.revokedAt != nil }) else {
            throw Refusal(
                .conflict, "The last key cannot be deleted, nor can all that count at once: add another first.",
                state: "last_key")
        }
    }

    private static func find(_ id: ProviderKeyID, in transaction: any Transaction) throws -> ProviderKeyRecord {
        guard let key = try ProviderKeyRepository(transaction).find(id) else { throw unknown(id) }
        return key
    }

    private static func unknown(_ id: ProviderKeyID) -> Refusal {
        Refusal(.notFound, "There is no key \(id).")
    }
}
