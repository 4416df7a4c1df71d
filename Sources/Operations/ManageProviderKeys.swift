import Database
import Foundation
import Identity
import Records
import Tokens

/// A provider's keys and apps, changed by an admin or, within bounds, by the provider itself.
public struct ManageProviderKeys: Sendable {
    private let store: any Database
    private let watch: StoreWatch?
    private let surroundings: Surroundings

    /// Changes keys in a store.
    public init(store: any Database, watch: StoreWatch?, surroundings: Surroundings) {
        self.store = store
        self.watch = watch
        self.surroundings = surroundings
    }

    /// Adds a key that the provider proved to hold.
    ///
    /// - Throws: ``Refusal`` `invalid_provider_key`, or `conflict` where the key is known already.
    public func add(
        _ key: VerificationKey, to provider: ProviderID, origin: ProviderKeyRecord.Origin, actor: String
    ) async throws -> ProviderKeyID {
        let id: ProviderKeyID = surroundings.newIdentifier()
        let auditID = surroundings.newUUID()
        try await store.decide { transaction in
            let record = ProviderKeyRecord(
                id: id, providerID: provider, algorithm: key.algorithm.rawValue,
                subjectPublicKeyInfo: key.subjectPublicKeyInfo, origin: origin, createdAt: transaction.now,
                retiredAt: nil, revokedAt: nil)
            guard try ProviderKeyRecords(transaction).insert(record) else {
                throw Refusal(.conflict, "This key is or was registered already.", state: "registered")
            }
            try AuditRecords(transaction).append(
                .providerKeyAdded, subject: "key \(id)", actor: actor, detail: "provider \(provider)", id: auditID)
            try ChangeRecords(transaction).announce(.provider(provider))
        }
        try await watch?.apply(.provider(provider))
        return id
    }

    /// Adds a key over HTTP: key text and proof as they came.
    public func add(
        keyText: String, algorithm: String?, proof: String, to provider: ProviderID, realm: String
    ) async throws -> ProviderKeyID {
        let named = try algorithm.map { name throws(Refusal) in
            guard let known = SignatureAlgorithm(rawValue: name) else {
                throw Refusal(.malformedRequest, "$.alg names no algorithm of this service.")
            }
            return known
        }
        let key = try VerificationKey(text: keyText, algorithm: named)
        _ = try KeyPossessionProof(proof, of: key, by: provider, realm: realm, now: surroundings.now())
        return try await add(key, to: provider, origin: .provider, actor: "provider \(provider)")
    }

    /// Retires a key: nothing new is accepted from it, its sessions go on.
    public func retire(_ id: ProviderKeyID, actor: String) async throws {
        let auditID = surroundings.newUUID()
        let provider = try await store.decide { transaction -> ProviderID in
            let key = try Self.find(id, in: transaction)
            try ProviderKeyRecords(transaction).retire(id, at: transaction.now)
            try AuditRecords(transaction).append(.providerKeyRetired, subject: "key \(id)", actor: actor, id: auditID)
            try ChangeRecords(transaction).announce(.provider(key.providerID))
            return key.providerID
        }
        try await watch?.apply(.provider(provider))
    }

    /// Revokes a key, and ends the sessions that it opened where asked; how many.
    ///
    /// - Parameter requester: a provider and the key it signs with, when it asks itself: then it may not touch
    ///   another's keys, those that an admin added (unless it signs with such a one), nor its last one.
    @discardableResult
    public func revoke(
        _ id: ProviderKeyID, endingSessions: Bool, requester: (provider: ProviderID, key: ProviderKeyID)?,
        actor: String,
        reason: AuditReason? = nil
    ) async throws -> Int {
        let auditID = surroundings.newUUID()
        let (provider, ended) = try await store.decide { transaction -> (ProviderID, Int) in
            let key = try Self.find(id, in: transaction)
            let records = ProviderKeyRecords(transaction)
            if let requester {
                guard key.providerID == requester.provider else { throw Self.unknown(id) }
                let keys = try records.list(of: requester.provider)
                let signing = keys.first { $0.id == requester.key }
                guard key.origin == .provider || signing?.origin == .admin else {
                    throw Refusal(
                        .conflict, "A key that was added over HTTP cannot delete one that an admin added.",
                        state: "added_by_admin")
                }
                let others = keys.filter { $0.id != id && $0.revokedAt == nil && $0.retiredAt == nil }
                guard key.revokedAt != nil || !others.isEmpty else {
                    throw Refusal(.conflict, "The last key cannot be deleted: add another first.", state: "last_key")
                }
            }
            try records.revoke(id, at: transaction.now)
            let ended =
                endingSessions
                ? try SessionRecords(transaction).end(
                    .providerKey(id), at: transaction.now, reason: "provider key revoked") : 0
            try AuditRecords(transaction).append(
                .providerKeyRevoked, subject: "key \(id)", actor: actor, detail: "\(ended) sessions ended",
                reason: reason, id: auditID)
            try ChangeRecords(transaction).announce(.provider(key.providerID))
            return (key.providerID, ended)
        }
        try await watch?.apply(.provider(provider))
        return ended
    }

    private static func find(_ id: ProviderKeyID, in transaction: any Transaction) throws -> ProviderKeyRecord {
        guard let key = try ProviderKeyRecords(transaction).find(id) else { throw unknown(id) }
        return key
    }

    private static func unknown(_ id: ProviderKeyID) -> Refusal {
        Refusal(.notFound, "There is no key \(id).")
    }
}
