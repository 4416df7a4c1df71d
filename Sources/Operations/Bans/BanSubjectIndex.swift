import Cards
import Database
import Domain
import Foundation
import Repositories

/// The subjects of bans: a number's or a document's blind indexes under every version of the index key.
struct BanSubjectIndex: Sendable {
    let keys: PersonalKeys

    /// One subject, and the version of the index key that made it.
    typealias Versioned = (version: Int, subject: BanEntry.Subject)

    /// A number or document that a user proves, unless a ban forbids it.
    enum Proof {
        case phone(_ e164: String)
        case document(DocumentName)

        fileprivate var kind: Ban.SubjectKind {
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

    /// The indexes of a user's proven number. If the row cannot be opened, its stored index is returned.
    func number(of user: UserID, in transaction: any Transaction) throws -> [Versioned] {
        let records = AuthenticatedUserRepository(transaction, keys: keys)
        guard let index = try records.numberIndex(of: user) else { return [] }
        do {
            return try records.find(user).map { phone($0.phoneNumber) } ?? []
        } catch is SealingFailure {
            return keys.indexVersions.min().map { [($0, .phone(index))] } ?? []
        }
    }

    /// The document of a submitted card, from its number. If the number was archived and deleted, or cannot be opened,
    /// the stored indexes are returned.
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
        // The version of the card's own index is not stored. The oldest known version covers all that it may have.
        guard kept.isEmpty, let index = card.documentIndex, let oldest = keys.indexVersions.min() else { return kept }
        return [(oldest, .document(index))]
    }

    /// The indexes that stay stored when a document's number is deleted.
    func kept(_ facts: CardFacts) -> [CardFacts.DocumentIndex] {
        guard let name = DocumentName(facts) else { return [] }
        return name.fingerprints.flatMap { keys.versionedBlindIndexes($0, .document) }
            .map { CardFacts.DocumentIndex(version: $0.version, digest: $0.index) }
    }

    /// The subjects of a user: the name, the proven number, and the documents of cards that were not rejected. Data
    /// that cannot be opened is left out, so that the user can still be erased.
    func person(_ user: UserID, in transaction: any Transaction) throws -> [BanEntry.Subject] {
        let proved = try? AuthenticatedUserRepository(transaction, keys: keys).find(user)
        let numbers = proved.map { phone($0.phoneNumber) } ?? []
        let cards = try IdentityCardRepository(transaction).list(of: user).filter { $0.status != .rejected }
        let documents = try cards.flatMap { card -> [BanEntry.Subject] in
            try document(of: card, in: transaction).map(\.subject) + (card.documentIndex.map { [.document($0)] } ?? [])
        }
        return [.user(user)] + numbers.map(\.subject) + documents
    }

    /// The active ban entry that forbids proving a number or document; `nil` if there is none.
    ///
    /// A process with a newer key may have made a ban, so the keys are reloaded if a version is missing. If an active
    /// ban still cannot be checked, the proof is refused, because that ban may forbid it.
    ///
    /// - Throws: `Refusal` `unavailable` while a version of the index key is missing that an active ban needs.
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

    /// Extends a messaging ban to a user who has proven the banned number or document. A messaging ban does not forbid
    /// the proof. It ends the user's permissions and open requests, as for users who were affected at once.
    func extendMessagingBan(
        to user: UserID, whoProved proof: Proof, in transaction: any Transaction
    ) throws {
        guard let entry = try activeBan(on: proof, scope: .messaging, in: transaction) else { return }
        try BanRepository(transaction).insert(
            BanEntry(ban: entry.ban, subject: .user(user), origin: .holder, endsAt: entry.endsAt, indexVersion: nil))
        try AuthorizationRepository(transaction).withdraw(allOf: user, because: .banned, at: transaction.now)
    }
}
