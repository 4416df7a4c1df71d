import Cards
import Database
import Domain
import Foundation
import Repositories

/// What bans look for: a number's or a document's blind indexes under every version of the key.
struct BanSubjectIndex: Sendable {
    let keys: PersonalKeys

    /// One subject with the version of the key behind it.
    typealias Versioned = (version: Int, subject: BanEntry.Subject)

    /// What a user proves, and a ban may keep from being anybody's proof.
    enum Proof {
        case phone(_ e164: String)
        case document(DocumentName)

        fileprivate var kind: BanSubjectKind {
            switch self {
            case .phone: .phone
            case .document: .document
            }
        }
    }

    private func subjects(of proof: Proof) -> [BanEntry.Subject] {
        switch proof {
        case .phone(let e164): phone(e164).map(\.subject)
        case .document(let name): document(name).map(\.subject)
        }
    }

    func phone(_ e164: String) -> [Versioned] {
        keys.versionedPhoneIndexes(e164).map { ($0.version, .phone($0.index)) }
    }

    func document(_ name: DocumentName) -> [Versioned] {
        name.fingerprints.flatMap { keys.versionedBlindIndexes($0, .document) }
            .map { ($0.version, .document($0.index)) }
    }

    /// A user's proven number; where the row cannot be opened, by the row's own index.
    func number(of user: UserID, in transaction: any Transaction) throws -> [Versioned] {
        let records = AuthenticatedUserRepository(transaction, keys: keys)
        guard let index = try records.numberIndex(of: user) else { return [] }
        do {
            return try records.find(user).map { phone($0.phoneNumber) } ?? []
        } catch is SealingFailure {
            return keys.indexVersions.min().map { [($0, .phone(index))] } ?? []
        }
    }

    /// The document of a card that was shown, from its number or, where that was archived and dropped or cannot be
    /// opened, from the indexes that were kept.
    func document(
        of card: IdentityCardRepository.Entry, in transaction: any Transaction
    ) throws -> [Versioned] {
        let facts: CardFacts?
        do {
            facts = try SealedCard.facts(of: card, keys: keys, in: transaction)
        } catch is SealingFailure {
            facts = nil
        }
        if let name = facts.flatMap({ DocumentName($0) }) { return document(name) }
        let kept = (facts?.documentIndexes ?? []).map { index -> Versioned in
            (index.version, .document(index.digest))
        }
        // The card's own index does not say its version: the oldest one that is known keeps all that it may be.
        guard kept.isEmpty, let index = card.documentIndex, let oldest = keys.indexVersions.min() else { return kept }
        return [(oldest, .document(index))]
    }

    /// What is to be kept of a document whose number is dropped.
    func kept(_ facts: CardFacts) -> [CardFacts.DocumentIndex] {
        guard let name = DocumentName(facts) else { return [] }
        return name.fingerprints.flatMap { keys.versionedBlindIndexes($0, .document) }
            .map { CardFacts.DocumentIndex(version: $0.version, digest: $0.index) }
    }

    /// What stands for a user: the name, the proven number, and the documents of cards that were not rejected. What cannot be
    /// opened any more is left out: it must not keep a person from being erased.
    func person(_ user: UserID, in transaction: any Transaction) throws -> [BanEntry.Subject] {
        let proved = try? AuthenticatedUserRepository(transaction, keys: keys).find(user)
        let numbers = proved.map { phone($0.phoneNumber) } ?? []
        let cards = try IdentityCardRepository(transaction).list(of: user).filter { $0.status != .rejected }
        let documents = try cards.flatMap { card -> [BanEntry.Subject] in
            try document(of: card, in: transaction).map(\.subject) + (card.documentIndex.map { [.document($0)] } ?? [])
        }
        return [.user(user)] + numbers.map(\.subject) + documents
    }

    /// The entry that keeps a number or document from being anybody's proof; `nil` where there is none.
    ///
    /// A ban may have been made by a process that knew a newer key: then the keys are read again first. Where a ban in
    /// force cannot be looked for all the same, nothing is proved: it could be the one.
    ///
    /// - Throws: `Refusal` `unavailable` while a version of the index key is missing that a ban in force needs.
    func activeBan(
        on proof: Proof, scope: Ban.Scope = .all, in transaction: any Transaction
    ) throws -> BanEntry? {
        let records = BanRepository(transaction)
        let needed = try records.indexVersions(proof.kind)
        guard !needed.isEmpty else { return nil }
        if !needed.isSubset(of: keys.indexVersions) {
            try keys.reload()
            if try records.isOutOfReach(proof.kind, of: keys.indexVersions) {
                let missing = needed.subtracting(keys.indexVersions).sorted().map(String.init)
                throw Refusal.bansUnreadable(
                    "blind-index.key lacks a version that bans in force need: \(missing.joined(separator: ", "))")
            }
        }
        let entries = try records.entries(on: subjects(of: proof))
        return BanEntry.activeBan(among: entries, for: scope, at: transaction.now)
    }

    /// A user has proven a number or document that may be banned from messaging, which keeps nobody from proving it: then
    /// that ban holds the user too, and what is open of the user ends as it does when a ban meets its holders.
    func extendMessagingBan(
        to user: UserID, whoProved proof: Proof, in transaction: any Transaction
    ) throws {
        guard let entry = try activeBan(on: proof, scope: .messaging, in: transaction) else { return }
        try BanRepository(transaction).insert(
            BanEntry(ban: entry.ban, subject: .user(user), origin: .holder, endsAt: entry.endsAt, indexVersion: nil))
        try AuthorizationRepository(transaction).withdraw(allOf: user, because: .banned, at: transaction.now)
    }
}
