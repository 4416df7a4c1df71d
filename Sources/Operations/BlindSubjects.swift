import Cards
import Database
import Foundation
import Identity
import Records

/// What bans look for: a number's or a document's blind indexes under every version of the key.
struct BlindSubjects: Sendable {
    let keys: PersonalKeys

    /// One subject with the version of the key behind it.
    typealias Versioned = (version: Int, subject: BanHold.Subject)

    func phone(_ e164: String) -> [Versioned] {
        keys.versionedBlindIndexes(e164, .phoneNumber).map { ($0.version, .phone($0.index)) }
    }

    func document(_ name: DocumentName) -> [Versioned] {
        name.fingerprints.flatMap { keys.versionedBlindIndexes($0, .document) }
            .map { ($0.version, .document($0.index)) }
    }

    /// What stands for a user: the name, the proven number, and the documents of cards that were not rejected. What cannot be
    /// opened any more is left out: it must not keep a person from being erased.
    func person(_ user: UserID, in transaction: any Transaction) throws -> [BanHold.Subject] {
        let proved = try? AuthenticatedUserRecords(transaction, keys: keys).find(user)
        let numbers = proved.map { phone($0.phoneNumber) } ?? []
        let cards = try IdentityCardRecords(transaction).list(of: user).filter { $0.status != .rejected }
        let documents = cards.flatMap { card -> [BanHold.Subject] in
            let facts = try? SealedCard.facts(of: card, keys: keys, in: transaction)
            let named = facts.flatMap { DocumentName($0) }.map(document) ?? []
            return named.map(\.subject) + (card.documentIndex.map { [.document($0)] } ?? [])
        }
        return [.user(user)] + numbers.map(\.subject) + documents
    }

    /// The hold that keeps a number or document from being anybody's proof; `nil` where there is none.
    ///
    /// A ban may have been made by a process that knew a newer key: then the keys are read again first.
    func ruling(
        on subjects: () -> [Versioned], _ kind: BanSubjectKind, in transaction: any Transaction
    ) throws -> BanHold? {
        let records = BanRecords(transaction)
        let needed = try records.indexVersions(kind)
        guard !needed.isEmpty else { return nil }
        if !needed.isSubset(of: keys.indexVersions) { try keys.reload() }
        let holds = try records.holds(on: subjects().map(\.subject))
        return BanHold.ruling(holds, on: .all, at: transaction.now)
    }
}
