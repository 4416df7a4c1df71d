import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// The maximum number of other users that are returned. More would not help the reviewer.
private let maximumOthers = 20

package extension Administration {
    /// The card as a reviewer sees it.
    struct CardInReview: Sendable {
        package let entry: IdentityCardRepository.Entry
        /// `nil` if the user was erased meanwhile.
        package let facts: CardFacts?
        package let checks: [CardCheck]
        /// The reason of the decision; `nil` if there is none yet.
        package let reason: String?
        /// The card's user, as `<provider slug>/<external id>`; `nil` if the user no longer exists.
        package let account: String?
        /// The user's current name at the provider.
        package let accountName: String?
        /// Other users of the provider who showed the document, or a card of the same person.
        package let others: [OtherHolder]
    }

    /// The list entry of a card in review, without the card's data.
    typealias WaitingCard = (id: IdentityCardID, userID: UserID, submittedAt: Date, failed: [CardCheck])

    /// Another user with the same document or person.
    struct OtherHolder: Sendable {
        package let userID: UserID
        /// The other user, as `<provider slug>/<external id>`.
        package let account: String?
        package let shared: Shared

        /// What the other user has in common with the card's user.
        package enum Shared: String, Sendable {
            case document
            case person
        }
    }

    /// The cards that wait for a reviewer, oldest first.
    ///
    /// - Parameter cursor: the id of the last card on the previous page.
    /// - Throws: `Refusal` `not_found` for a cursor that no longer exists.
    func listCardsInReview(limit: Int, after cursor: IdentityCardID? = nil) async throws -> [WaitingCard] {
        try await read(.review) { transaction in
            try IdentityCardRepository(transaction).listInReview(limit: limit, after: cursor).map { entry in
                (
                    id: entry.id, userID: entry.userID, submittedAt: entry.submittedAt,
                    failed: CardCheck.list(jsonText: entry.checks).filter { $0.result == .failed }
                )
            }
        }
    }

    /// Reads a card for a reviewer. Because it is personal data, the access is audited.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readCardInReview(_ id: IdentityCardID) async throws -> CardInReview {
        let keys = try personalKeys()
        return try await write(.review) { transaction, events in
            let entry = try IdentityCardRepository(transaction).require(id)
            events.record(
                .personalDataRead(subject: AuditSubject(.user, entry.userID), detail: "card \(id)"), by: actor,
                because: "card_review")
            let key = try DataKeyRepository(transaction, keys: keys).find(entry.userID)
            let reason = try IdentityCardRepository(transaction).sealedReason(id).flatMap { sealed in
                try key?.open(sealed, in: .cardReason, of: id)
            }
            let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            return CardInReview(
                entry: entry, facts: facts, checks: CardCheck.list(jsonText: entry.checks), reason: reason,
                account: try account(of: entry.userID, in: transaction),
                accountName: try UserProfile.find(entry.userID, keys: keys, in: transaction).displayName,
                others: try others(than: entry, facts, keys, in: transaction))
        }
    }

    /// The other users with the same document or person now. Since the submission some may have been erased or added.
    private func others(
        than entry: IdentityCardRepository.Entry, _ facts: CardFacts?, _ keys: PersonalKeys,
        in transaction: any Transaction
    ) throws -> [OtherHolder] {
        let documents = facts.flatMap { DocumentName($0) }.map { keys.indexes(of: $0) } ?? []
        let person = facts.flatMap { CardFingerprint.person(of: $0) }
        let persons = person.map { keys.blindIndexes($0, .person) } ?? []
        let found = try IdentityCardRepository(transaction).others(
            than: entry.userID, of: entry.providerID,
            documents: documents + (entry.documentIndex.map { [$0] } ?? []),
            persons: persons + (entry.personIndex.map { [$0] } ?? []))
        let sameDocument = Set(found.sameDocument)
        let all =
            found.sameDocument.map { ($0, OtherHolder.Shared.document) }
            + found.samePerson.filter { !sameDocument.contains($0) }.map { ($0, .person) }
        return try all.prefix(maximumOthers).map { user, shared in
            OtherHolder(userID: user, account: try account(of: user, in: transaction), shared: shared)
        }.sorted { ($0.shared.rawValue, $0.account ?? "") < ($1.shared.rawValue, $1.account ?? "") }
    }

    private func account(of user: UserID, in transaction: any Transaction) throws -> String? {
        guard let user = try UserRepository(transaction).find(user) else { return nil }
        return try ProviderRepository(transaction).find(user.providerID)?.address(of: user.externalID)
    }
}

extension IdentityCardRepository {
    /// The card with an id.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ id: IdentityCardID) throws -> Entry {
        guard let entry = try find(id) else { throw Refusal.unknownCard }
        return entry
    }
}
