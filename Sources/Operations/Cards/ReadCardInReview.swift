import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// The maximum number of other users, and of the user's other cards, that are returned. More would not help the reviewer.
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
        package let summary: CardSummary
    }

    /// A card in review and its user: the level that the card gives, the user's level now, the card that verified the
    /// user before, the user's other cards, newest first, and the decision that has not taken effect yet. `decidedBy` is
    /// also the reviewer of that decision, and `isOwn` whether that is this administrator.
    typealias CardSummary = (
        id: IdentityCardID, userID: UserID, status: CardStatus, submittedAt: Date, gives: Assurance, level: Assurance?,
        former: CardFacts?, earlier: [EarlierCard], decision: IdentityCardRepository.PendingDecision?,
        decidedBy: String?, isOwn: Bool
    )

    /// Another card of the user.
    typealias EarlierCard = (
        id: IdentityCardID, status: CardStatus, submittedAt: Date, decidedAt: Date?, failed: [CardCheck]
    )

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
            let cards = IdentityCardRepository(transaction)
            let entry = try cards.require(id)
            events.record(
                .personalDataRead(subject: AuditSubject(.user, entry.userID), detail: "card \(id)"), by: actor,
                because: "card_review")
            let key = try DataKeyRepository(transaction, keys: keys).find(entry.userID)
            let reason = try entry.decidedBy.flatMap { _ in try cards.sealedReason(id) }.flatMap { sealed in
                try key?.open(sealed, in: .cardReason, of: id)
            }
            let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            let user = try UserRepository(transaction).find(entry.userID)
            return CardInReview(
                entry: entry, facts: facts, checks: CardCheck.list(jsonText: entry.checks), reason: reason,
                account: try user.map { try UserSummary($0, in: transaction).address },
                accountName: try UserProfile.find(entry.userID, keys: keys, in: transaction).displayName,
                others: try others(than: entry, facts, keys, in: transaction),
                summary: try summary(of: entry, user, keys, in: transaction))
        }
    }

    private func summary(
        of entry: IdentityCardRepository.Entry, _ user: User?, _ keys: PersonalKeys, in transaction: any Transaction
    ) throws -> CardSummary {
        let cards = IdentityCardRepository(transaction)
        let others = try cards.list(of: entry.userID).filter { $0.id != entry.id }
        let former = others.filter { $0.status == .verified }.max {
            ($0.decidedAt ?? .distantPast) < ($1.decidedAt ?? .distantPast)
        }
        return (
            id: entry.id, userID: entry.userID, status: entry.status, submittedAt: entry.submittedAt,
            gives: entry.assurance, level: user?.assurance,
            former: try former.flatMap { try SealedCard.readableFacts(of: $0, keys: keys, in: transaction) },
            earlier: others.prefix(maximumOthers).map {
                (
                    id: $0.id, status: $0.status, submittedAt: $0.submittedAt, decidedAt: $0.decidedAt,
                    failed: CardCheck.list(jsonText: $0.checks).filter { $0.result == .failed }
                )
            },
            decision: entry.decidedBy == nil ? nil : try cards.pendingDecision(entry.id), decidedBy: entry.decidedBy,
            isOwn: entry.decidedBy?.utf8.elementsEqual(actor.utf8) ?? false
        )
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
        let shown = all.prefix(maximumOthers)
        let accounts = try UserSummary.list(shown.map(\.0), in: transaction).map { ($0.user.id, $0.address) }
        let addresses = Dictionary(accounts) { first, _ in first }
        return shown.map { user, shared in
            OtherHolder(userID: user, account: addresses[user], shared: shared)
        }.sorted { ($0.shared.rawValue, $0.account ?? "") < ($1.shared.rawValue, $1.account ?? "") }
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
