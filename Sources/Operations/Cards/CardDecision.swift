import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// The consequences of a reviewer's decision about a card.
struct CardDecision {
    let keys: PersonalKeys
    let transaction: any Transaction

    /// The seconds in which a decision can be undone.
    static let undoPeriod: TimeInterval = 10

    /// The facts of a card that can be accepted.
    ///
    /// - Throws: `Refusal` `conflict` if the document is banned, or no number of the user is verified.
    func requireAcceptable(_ entry: IdentityCardRepository.Entry) throws -> CardFacts {
        let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
        if let name = facts.flatMap({ DocumentName($0) }),
            let ban = try BanSubjectIndex(keys: keys).activeBan(on: .document(name), in: transaction)?.ban
        {
            throw Refusal.reviewedDocumentBanned(by: ban.id)
        }
        guard let facts,
            try AuthenticatedUserRepository(transaction, keys: keys).numberIndex(of: entry.userID) != nil
        else { throw Refusal.cardWithoutNumber(state: entry.status.rawValue) }
        return facts
    }

    /// Draws the consequences of a decision that is in force in the card's row, and audits it.
    ///
    /// - Throws: `Refusal` `conflict`, and the transaction must be rolled back.
    func follow(
        _ status: CardStatus, on entry: IdentityCardRepository.Entry, by actor: String, _ events: inout RecordedEvents
    ) throws {
        guard status == .verified else {
            return events.record(.cardRejected(entry.userID, detail: "card \(entry.id)"), by: actor)
        }
        let facts = try requireAcceptable(entry)
        let isSamePerson = try SealedCard.isSamePerson(
            facts, of: entry.id, as: entry.userID, keys: keys, in: transaction)
        guard
            try facts.accept(of: entry.userID, assurance: entry.assurance, keys: keys, in: transaction, &events)
        else { throw Refusal.cardWithoutNumber(state: entry.status.rawValue) }
        var detail = "card \(entry.id)"
        if isSamePerson == false {
            let count = try AuthorizationRepository(transaction).withdraw(
                allOf: entry.userID, because: .cancelled, at: transaction.now)
            let more = count < AuthorizationRepository.countLimit ? "" : " or more"
            detail += ", another person's, authorizations withdrawn: \(count)\(more)"
        }
        events.record(.identityVerified(entry.userID, detail: detail), by: actor)
    }
}

extension CardFacts {
    /// Gives a user the level of an accepted card, and the messaging ban of its document, if there is one.
    ///
    /// - Returns: `false` if no number of the user is proven, and nothing was changed.
    func accept(
        of user: UserID, assurance: Assurance, keys: PersonalKeys, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws -> Bool {
        guard
            let changes = try AuthenticatedUserRepository(transaction, keys: keys).identityVerified(
                user, self, assurance: assurance, at: transaction.now)
        else { return false }
        for change in changes { events.record(.assuranceChanged(change)) }
        if let name = DocumentName(self) {
            try BanSubjectIndex(keys: keys).extendMessagingBan(to: user, whoProved: .document(name), in: transaction)
        }
        return true
    }
}
