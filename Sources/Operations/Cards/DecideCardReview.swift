import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Administration {
    /// Accepts a card in review. If the user was verified by another person's card before, the former person's
    /// permissions and requests end.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if the card was decided before, its document is banned, or the
    ///   number is another user's now.
    func approveCard(_ id: IdentityCardID, reason: String) async throws {
        try await decideCard(id, .verified, reason)
    }

    /// Rejects a card in review; the user may show another one.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if the card was decided before.
    func rejectCard(_ id: IdentityCardID, reason: String) async throws {
        try await decideCard(id, .rejected, reason)
    }

    private func decideCard(_ id: IdentityCardID, _ status: CardStatus, _ reason: String) async throws {
        let keys = try personalKeys()
        try PlainText.require(reason, about: .reason, bytes: 0...4096, for: .note)
        try await write(.review) { transaction, events in
            let cards = IdentityCardRepository(transaction)
            let entry = try cards.require(id)
            let sealed = try Self.seal(reason, of: entry, keys: keys, in: transaction)
            guard try cards.decide(id, status, by: actor, sealedReason: sealed, at: transaction.now) else {
                throw try cards.refusal(of: entry)
            }
            try CardDecision(keys: keys, transaction: transaction).follow(status, on: entry, by: actor, &events)
        }
    }

    /// Decides about a card in review, like `approveCard(_:reason:)` or `rejectCard(_:reason:)`, but so that the
    /// decision takes effect after ten seconds. Until then it can be undone. It takes effect without the process that
    /// stored it.
    ///
    /// - Returns: when the decision takes effect.
    /// - Throws: as those do; `malformed_request` without a reason.
    func decideCardLater(_ id: IdentityCardID, isAccepted: Bool, reason: String) async throws -> Date {
        let keys = try personalKeys()
        try PlainText.require(reason, about: .reason, bytes: 1...4096, for: .note)
        let status: CardStatus = isAccepted ? .verified : .rejected
        return try await write(.review) { transaction, events in
            let cards = IdentityCardRepository(transaction)
            let entry = try cards.require(id)
            let sealed = try Self.seal(reason, of: entry, keys: keys, in: transaction)
            let time = transaction.now.addingTimeInterval(CardDecision.undoPeriod)
            guard try cards.decide(id, status, by: actor, sealedReason: sealed, effectiveAt: time) else {
                throw try cards.refusal(of: entry)
            }
            // What forbids it now is reported to the reviewer, and not only when it would take effect.
            if isAccepted { _ = try CardDecision(keys: keys, transaction: transaction).requireAcceptable(entry) }
            events.record(.cardDecided(entry.userID, id, status), by: actor)
            return time
        }
    }

    /// Undoes a decision of this administrator that has not taken effect yet. The card is in review again.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if there is no such decision.
    func undoCardDecision(_ id: IdentityCardID) async throws {
        try await write(.review) { transaction, events in
            let cards = IdentityCardRepository(transaction)
            let entry = try cards.require(id)
            // After this time any node may put it into force at any moment.
            guard let decision = try cards.pendingDecision(id), transaction.now < decision.effectiveAt else {
                throw Refusal.noCardDecision(state: entry.status.rawValue)
            }
            guard decision.actor.utf8.elementsEqual(actor.utf8) else {
                throw Refusal.cardDecisionOfAnother(decision.actor)
            }
            guard try cards.removeDecision(id) else { throw Refusal.noCardDecision(state: entry.status.rawValue) }
            events.record(.cardDecisionUndone(entry.userID, id), by: actor)
        }
    }

    private static func seal(
        _ reason: String, of card: IdentityCardRepository.Entry, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> [UInt8] {
        guard let key = try DataKeyRepository(transaction, keys: keys).find(card.userID) else {
            throw Refusal.cardOfErasedUser
        }
        return try key.seal(reason, in: .cardReason, of: card.id)
    }
}

extension IdentityCardRepository {
    /// Why a card cannot be decided.
    fileprivate func refusal(of entry: Entry) throws -> Refusal {
        try pendingDecision(entry.id).map { Refusal.cardDecided(by: $0.actor) }
            ?? .notInReview(state: entry.status.rawValue)
    }
}
