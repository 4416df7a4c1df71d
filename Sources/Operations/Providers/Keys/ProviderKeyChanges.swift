import Database
import Domain
import Foundation
import Repositories
import Tokens

/// The effects of a revoked key.
package struct ProviderKeyRevocation: Sendable {
    /// The key, and the keys that it added, in the order in which they were added.
    package let keys: [ProviderKeyID]
    /// Whether the provider has no key left to sign with, but had one before.
    package let leavesNoKey: Bool
    /// The number of open sessions just before, if they end and an admin made the request; `nil` if they were not
    /// counted.
    package internal(set) var sessionsEnded: CountedSessions?

    /// - Parameters:
    ///   - taken: the revoked keys, in their former state.
    ///   - all: all keys of the provider, in their former state.
    init(_ taken: [ProviderKeyRecord], of all: [ProviderKeyRecord], sessionsEnded: CountedSessions? = nil) {
        keys = taken.map(\.id)
        leavesNoKey = all.usable(besides: taken).isEmpty && !all.usable(besides: []).isEmpty
        self.sessionsEnded = sessionsEnded
    }
}

/// Changes of a provider's keys, in the transaction of an admin or, within limits, of the provider itself.
struct ProviderKeyChanges {
    let actor: String
    /// The provider and its signing key, if the provider itself makes the request.
    let requester: Service.ProvenProvider?
    let transaction: any Transaction

    /// The maximum number of keys with which a provider may add another, including the operator's and revoked ones. No
    /// key is deleted, and all are read at once.
    static let mostKept = 256

    /// Adds a key. A key that a provider adds records the key that signed for it.
    ///
    /// - Throws: `Refusal` `conflict` if the key is already registered, or there are too many; `provider_token_invalid`
    ///   if the signing key was retired or the provider was disabled meanwhile.
    func add(
        _ key: VerificationKey, as id: ProviderKeyID, to provider: ProviderID, _ events: inout RecordedEvents
    ) throws {
        try requester?.requireActive(in: transaction)
        let keys = ProviderKeyRepository(transaction)
        let record = ProviderKeyRecord(
            id: id, providerID: provider, algorithm: key.algorithm.rawValue,
            subjectPublicKeyInfo: key.subjectPublicKeyInfo, origin: requester == nil ? .admin : .provider,
            addedBy: requester?.keyID, createdAt: transaction.now, retiredAt: nil, revokedAt: nil)
        guard try keys.insert(record) else {
            throw Refusal.keyRegistered
        }
        // The rollback of the transaction removes the key.
        if requester != nil, try keys.list(of: provider).count(where: { $0.origin != .issuer }) > Self.mostKept {
            throw Refusal.providerKeysExhausted(Self.mostKept)
        }
        events.record(.providerKeyAdded(id, provider, signer: requester?.keyID), by: actor)
    }

    /// Revokes a key and, unless they must stay, the keys that it added directly or indirectly. Ends the sessions that
    /// they opened if requested.
    ///
    /// A provider may not revoke another provider's keys, nor keys that an admin added (unless it signs with such a
    /// key), nor its last key.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict`, `provider_token_invalid`.
    func revoke(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool, reason: AuditReason?,
        _ events: inout RecordedEvents
    ) throws -> ProviderKeyRevocation {
        try requester?.requireActive(in: transaction)
        let key = try find(id)
        let records = ProviderKeyRepository(transaction)
        let keys = try records.list(of: key.providerID)
        let taken = [key] + (keepingAdded ? [] : keys.descendants(of: id))
        if let requester { try Self.require(requester, mayRevoke: taken, of: keys) }
        for taken in taken {
            // A key that is already revoked stays so, but its sessions may still be open.
            try records.revoke(taken.id, at: transaction.now)
            if endingSessions {
                try RevokeSessions(transaction: transaction)(.providerKey(taken.id), .providerKeyRevoked, &events)
            }
            let fate = endingSessions ? "its sessions end" : "its sessions go on"
            let origin = taken.id == id ? "" : ", added by way of key \(id)"
            let signer = requester.map { ", signed by key \($0.keyID)" } ?? ""
            events.record(
                .providerKeyRevoked(taken.id, key.providerID, detail: "\(fate)\(origin)\(signer)"), by: actor,
                because: reason)
        }
        return ProviderKeyRevocation(taken, of: keys)
    }

    /// The effects that a revocation by an admin would have.
    func preview(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool
    ) throws -> ProviderKeyRevocation {
        let key = try find(id)
        let keys = try ProviderKeyRepository(transaction).list(of: key.providerID)
        let taken = [key] + (keepingAdded ? [] : keys.descendants(of: id))
        let sessions =
            try !endingSessions
            ? CountedSessions()
            : taken.reduce(CountedSessions()) {
                $0 + (try CountedSessions(behind: .providerKey($1.id), in: transaction))
            }
        return ProviderKeyRevocation(taken, of: keys, sessionsEnded: sessions)
    }

    /// Retires a key: it opens no new sessions, and existing ones continue.
    ///
    /// - Returns: whether the provider has no key left to sign with, but had one before.
    func retire(_ id: ProviderKeyID, _ events: inout RecordedEvents) throws -> Bool {
        let leavesNoKey = try previewRetirement(id)
        let key = try find(id)
        try ProviderKeyRepository(transaction).retire(id, at: transaction.now)
        events.record(.providerKeyRetired(id, key.providerID), by: actor)
        return leavesNoKey
    }

    /// The result that ``retire(_:_:)`` would return.
    func previewRetirement(_ id: ProviderKeyID) throws -> Bool {
        let key = try find(id)
        guard key.origin != .issuer else {
            throw Refusal.keyOfIssuer
        }
        let keys = try ProviderKeyRepository(transaction).list(of: key.providerID)
        return ProviderKeyRevocation([key], of: keys).leavesNoKey
    }

    private static func require(
        _ requester: Service.ProvenProvider, mayRevoke taken: [ProviderKeyRecord], of keys: [ProviderKeyRecord]
    ) throws {
        guard let key = taken.first, key.providerID == requester.id else {
            throw Refusal.unknownOwnKey
        }
        let signing = keys.first { $0.id == requester.keyID }
        guard key.origin == .provider || signing?.origin == .admin else {
            throw Refusal.keyOfAdmin
        }
        guard !keys.usable(besides: taken).isEmpty || taken.allSatisfy({ $0.revokedAt != nil }) else {
            throw Refusal.lastKey
        }
    }

    private func find(_ id: ProviderKeyID) throws -> ProviderKeyRecord {
        guard let key = try ProviderKeyRepository(transaction).find(id) else {
            throw Refusal.unknownKey(id)
        }
        return key
    }
}

extension [ProviderKeyRecord] {
    /// The keys that the provider can sign with, except some. An issuer's keys are not the provider's.
    fileprivate func usable(besides taken: [ProviderKeyRecord]) -> [ProviderKeyRecord] {
        let ended = Set(taken.map(\.id))
        return filter { !ended.contains($0.id) && $0.revokedAt == nil && $0.retiredAt == nil && $0.origin != .issuer }
    }
}
