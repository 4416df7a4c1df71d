import Database
import Domain
import Foundation
import Repositories
import Tokens

/// The changes of a provider's keys after the key set of its issuer was fetched.
struct IssuerKeyChanges: Equatable {
    /// Keys that were never in the set before.
    var new: [WebKeySet.Member] = []
    /// Keys that are in the set again after they had left it.
    var back: [ProviderKeyID] = []
    /// Keys that are no longer in the set.
    var gone: [ProviderKeyID] = []

    /// Compares the stored keys of an issuer with those of its key set. A revoked key stays revoked.
    init(of stored: [ProviderKeyRecord], to read: [WebKeySet.Member]) {
        var known: Set<Name> = []
        let present = Set(read.map { Name($0) })
        for record in stored {
            let name = Name(record)
            known.insert(name)
            guard record.revokedAt == nil else { continue }
            switch (present.contains(name), record.retiredAt) {
            case (true, _?): back.append(record.id)
            case (false, nil): gone.append(record.id)
            case (true, nil), (false, _?): break
            }
        }
        new = read.filter { !known.contains(Name($0)) }
    }

    /// The identity of an issuer's key. If a key set gives a `kid` to another key, that is a different key.
    private struct Name: Hashable {
        let keyID: [UInt8]
        let algorithm: String
        let subjectPublicKeyInfo: [UInt8]

        init(_ member: WebKeySet.Member) {
            keyID = Array((member.keyID ?? "").utf8)
            algorithm = member.key.algorithm.rawValue
            subjectPublicKeyInfo = member.key.subjectPublicKeyInfo
        }

        init(_ record: ProviderKeyRecord) {
            keyID = Array((record.issuerKeyID ?? "").utf8)
            algorithm = record.algorithm
            subjectPublicKeyInfo = record.subjectPublicKeyInfo
        }
    }

    /// The maximum number of an issuer's keys that are kept for a provider, including those that left its key set.
    static let mostKept = 256
    /// How long a key that left its key set is kept, in seconds. A key with an open session is kept longer.
    static let keptGone: TimeInterval = 30 * 86_400
}

/// Updates the stored keys of a provider from its issuer's key set, in a transaction.
struct StoreIssuerKeys {
    let transaction: any Transaction
    let environment: Environment

    /// Keys that left the set are retired in any case.
    ///
    /// - Returns: a defect if the issuer had too many keys recently; then no new key is stored.
    func callAsFunction(
        _ set: WebKeySet, of issuer: ProviderIssuer, for provider: ProviderID, _ events: inout RecordedEvents
    ) throws -> TokenDefect? {
        let keys = ProviderKeyRepository(transaction)
        let stored = try keys.list(of: provider).filter { $0.origin == .issuer }
        let changes = IssuerKeyChanges(of: stored, to: set.members)
        let old = transaction.now.addingTimeInterval(-IssuerKeyChanges.keptGone)
        for record in stored where record.retiredAt.map({ $0 < old }) ?? false && !changes.back.contains(record.id) {
            try keys.purge(record.id, goneBefore: old)
        }
        for id in changes.gone {
            try keys.retire(id, at: transaction.now)
            events.record(.providerKeyRetired(id, provider))
            if issuer.endsSessionsOfRemovedKeys {
                try RevokeSessions(transaction: transaction)(.providerKey(id), .providerKeyRevoked, &events)
            }
        }
        for id in changes.back {
            try keys.reinstate(id)
            events.record(.providerChanged(provider, detail: "key \(id) is in the issuer's key set again"))
        }
        guard !changes.new.isEmpty else { return nil }
        let kept = try keys.list(of: provider).filter { $0.origin == .issuer }.count
        guard kept + changes.new.count <= IssuerKeyChanges.mostKept else {
            return TokenDefect(.malformed, "The issuer had more than \(IssuerKeyChanges.mostKept) keys lately.")
        }
        for member in changes.new {
            let record = ProviderKeyRecord(
                member, as: environment.newIdentifier(), of: provider, at: transaction.now)
            if try keys.insert(record) { events.record(.providerKeyAdded(record.id, provider, signer: nil)) }
        }
        return nil
    }
}

extension ProviderKeyRecord {
    /// The stored form of a new issuer's key.
    init(_ member: WebKeySet.Member, as id: ProviderKeyID, of provider: ProviderID, at time: Date) {
        self.init(
            id: id, providerID: provider, algorithm: member.key.algorithm.rawValue,
            subjectPublicKeyInfo: member.key.subjectPublicKeyInfo, origin: .issuer, createdAt: time, retiredAt: nil,
            revokedAt: nil, issuerKeyID: member.keyID)
    }
}

extension ProviderIssuer {
    /// The algorithms that its keys may be used with.
    var signatureAlgorithms: [SignatureAlgorithm] { algorithms.compactMap(SignatureAlgorithm.init) }
}
