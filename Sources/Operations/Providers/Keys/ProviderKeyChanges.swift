import Database
import Domain
import Foundation
import Repositories
import Tokens

/// What was revoked with a key.
package struct ProviderKeyRevocation: Sendable {
    /// The key, and the keys that it added, in the order in which they were added.
    package let keys: [ProviderKeyID]
    /// Whether the provider could sign before, and has no key left to sign with.
    package let leavesNoKey: Bool
    /// How many open sessions there were just before, if they end and an admin asks; `nil` if that was not counted.
    package internal(set) var sessionsEnded: CountedSessions?

    /// - Parameters:
    ///   - taken: the keys that are revoked, as they were before.
    ///   - all: all keys of the provider, as they were before.
    init(_ taken: [ProviderKeyRecord], of all: [ProviderKeyRecord], sessionsEnded: CountedSessions? = nil) {
        keys = taken.map(\.id)
        leavesNoKey = all.usable(besides: taken).isEmpty && !all.usable(besides: []).isEmpty
        self.sessionsEnded = sessionsEnded
    }
}

/// Changes of a provider's keys, in the transaction of whoever may: an admin or, within bounds, the provider itself.
struct ProviderKeyChanges {
    let actor: String
    /// The provider and the key that it signs with, when it acts itself.
    let requester: ProvenProvider?
    let transaction: any Transaction

    /// How many keys a provider may have by adding one itself, the operator's and revoked ones included: none is deleted,
    /// and all are read at once.
    static let mostKept = 256

    /// Adds a key; one that a provider adds remembers the one that signed for it.
    ///
    /// - Throws: `Refusal` `conflict` where the key is known already, or there are too many; `provider_token_invalid`
    ///   where the key that signed, or the provider, ended meanwhile.
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
        // The key goes with the transaction.
        if requester != nil, try keys.list(of: provider).count(where: { $0.origin != .issuer }) > Self.mostKept {
            throw Refusal.providerKeysExhausted(Self.mostKept)
        }
        events.record(.providerKeyAdded(id, provider, signer: requester?.keyID), by: actor)
    }

    /// Revokes a key and, unless they are to stay, the keys that it added, those that these added, and so on; ends the
    /// sessions that they opened where asked.
    ///
    /// A provider may not touch another's keys, those that an admin added (unless it signs with such a one), nor leave
    /// itself without one.
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
            // One that is revoked already is not revoked again, but what it opened may still live.
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

    /// What a revocation would come to, by an admin.
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

    /// Retires a key: nothing new is accepted from it, its sessions go on.
    ///
    /// - Returns: whether the provider could sign before, and has no key left to sign with.
    func retire(_ id: ProviderKeyID, _ events: inout RecordedEvents) throws -> Bool {
        let leavesNoKey = try previewRetirement(id)
        let key = try find(id)
        try ProviderKeyRepository(transaction).retire(id, at: transaction.now)
        events.record(.providerKeyRetired(id, key.providerID), by: actor)
        return leavesNoKey
    }

    /// What a retirement would come to, as ``retire(_:_:)`` returns it.
    func previewRetirement(_ id: ProviderKeyID) throws -> Bool {
        let key = try find(id)
        guard key.origin != .issuer else {
            throw Refusal.keyOfIssuer
        }
        let keys = try ProviderKeyRepository(transaction).list(of: key.providerID)
        return ProviderKeyRevocation([key], of: keys).leavesNoKey
    }

    private static func require(
        _ requester: ProvenProvider, mayRevoke taken: [ProviderKeyRecord], of keys: [ProviderKeyRecord]
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
    /// Those that the provider may sign with, without some. An issuer's keys are not the provider's.
    fileprivate func usable(besides taken: [ProviderKeyRecord]) -> [ProviderKeyRecord] {
        let ended = Set(taken.map(\.id))
        return filter { !ended.contains($0.id) && $0.revokedAt == nil && $0.retiredAt == nil && $0.origin != .issuer }
    }
}
