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
        let first: @Sendable (any Transaction) throws -> Void = {
            _ = try CardReviewRepository($0, keys: keys).find(id)
        }
        return try await write(.review, asking: first) { transaction, events in
            let records = CardReviewRepository(transaction, keys: keys)
            guard let found = try records.find(id) else { throw Refusal.unknownCard }
            let (entry, key) = (found.card, found.dataKey)
            events.record(
                .personalDataRead(subject: AuditSubject(.user, entry.userID), detail: "card \(id)"), by: actor,
                because: "card_review")
            let facts = try key.flatMap { try SealedCard.facts(of: entry, under: $0) }
            // Since the submission some other users may have been erased or added.
            let documents = Self.documents(of: entry, facts, keys)
            let related = try records.related(
                to: entry, documents: documents, persons: Self.persons(of: entry, facts, keys))
            let others = related.filter { $0.card.userID != entry.userID }
            return CardInReview(
                entry: entry, facts: facts, checks: CardCheck.list(jsonText: entry.checks),
                reason: try found.sealedReason.flatMap { try key?.open($0, in: .cardReason, of: id) },
                account: "\(found.provider.text)/\(found.user.externalID)",
                accountName: try found.sealedName.flatMap { sealed in
                    try key?.open(sealed, in: .userDisplayName, of: entry.userID)
                },
                others: Self.holders(others, of: found.provider, sharing: Set(documents)),
                summary: try summary(of: found, related.map(\.card).filter { $0.userID == entry.userID }))
        }
    }

    private static func documents(
        of entry: IdentityCardRepository.Entry, _ facts: CardFacts?, _ keys: PersonalKeys
    ) -> [Digest256] {
        (facts.flatMap { DocumentName($0) }.map { keys.indexes(of: $0) } ?? [])
            + (entry.documentIndex.map { [$0] } ?? [])
    }

    private static func persons(
        of entry: IdentityCardRepository.Entry, _ facts: CardFacts?, _ keys: PersonalKeys
    ) -> [Digest256] {
        (facts.flatMap { CardFingerprint.person(of: $0) }.map { keys.blindIndexes($0, .person) } ?? [])
            + (entry.personIndex.map { [$0] } ?? [])
    }

    /// The users of some cards, once each: by the document if they share that, else by the person.
    private static func holders(
        _ cards: [(card: IdentityCardRepository.Entry, externalID: String)], of provider: Slug,
        sharing documents: Set<Digest256>
    ) -> [OtherHolder] {
        var found: [UserID: OtherHolder] = [:]
        for (card, externalID) in cards {
            let sharesDocument = card.documentIndex.map(documents.contains) ?? false
            if found[card.userID] == nil || sharesDocument {
                found[card.userID] = OtherHolder(
                    userID: card.userID, account: "\(provider.text)/\(externalID)",
                    shared: sharesDocument ? .document : .person)
            }
        }
        return found.values.sorted { ($0.shared.rawValue, $0.account ?? "") < ($1.shared.rawValue, $1.account ?? "") }
            .prefix(maximumOthers).map(\.self)
    }

    /// - Parameter cards: all cards of the user, newest first.
    private func summary(
        of found: CardReviewRepository.Reviewed, _ cards: [IdentityCardRepository.Entry]
    ) throws -> CardSummary {
        let entry = found.card
        let others = cards.filter { $0.id != entry.id }
        let former = others.filter { $0.status == .verified }.max {
            ($0.decidedAt ?? .distantPast) < ($1.decidedAt ?? .distantPast)
        }
        return (
            id: entry.id, userID: entry.userID, status: entry.status, submittedAt: entry.submittedAt,
            gives: entry.assurance, level: found.user.assurance,
            // A former card that no longer opens has nothing to compare with.
            former: former.flatMap { card in found.dataKey.flatMap { try? SealedCard.facts(of: card, under: $0) } },
            earlier: others.prefix(maximumOthers).map {
                (
                    id: $0.id, status: $0.status, submittedAt: $0.submittedAt, decidedAt: $0.decidedAt,
                    failed: CardCheck.list(jsonText: $0.checks).filter { $0.result == .failed }
                )
            },
            decision: found.decision, decidedBy: entry.decidedBy,
            isOwn: entry.decidedBy?.utf8.elementsEqual(actor.utf8) ?? false
        )
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
