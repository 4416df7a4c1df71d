import Cards
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
        try await decideCard(id, .verified, reason) { entry, keys, transaction, events in
            let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            let bans = BanSubjectIndex(keys: keys)
            if let name = facts.flatMap({ DocumentName($0) }),
                let entry = try bans.activeBan(on: .document(name), in: transaction)
            {
                throw Refusal.reviewedDocumentBanned(by: entry.ban.id)
            }
            let isSamePerson = try facts.flatMap {
                try SealedCard.isSamePerson($0, of: id, as: entry.userID, keys: keys, in: transaction)
            }
            let isAccepted = try facts?.accept(
                of: entry.userID, assurance: entry.assurance, keys: keys, in: transaction, &events)
            guard isAccepted == true else {
                throw Refusal.cardWithoutNumber(state: entry.status.rawValue)
            }
            guard isSamePerson == false else { return nil }
            let count = try AuthorizationRepository(transaction).withdraw(
                allOf: entry.userID, because: .cancelled, at: transaction.now)
            let more = count < AuthorizationRepository.countLimit ? "" : " or more"
            return "another person's, authorizations withdrawn: \(count)\(more)"
        }
    }

    /// Rejects a card in review; the user may show another one.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if the card was decided before.
    func rejectCard(_ id: IdentityCardID, reason: String) async throws {
        try await decideCard(id, .rejected, reason) { _, _, _, _ in nil }
    }

    private func decideCard(
        _ id: IdentityCardID, _ status: CardStatus, _ reason: String,
        _ follow:
            @escaping @Sendable (
                IdentityCardRepository.Entry, PersonalKeys, any Transaction, inout RecordedEvents
            ) throws -> String?
    ) async throws {
        let keys = try personalKeys()
        try PlainText.require(reason, about: .reason, bytes: 0...4096, for: .note)
        try await write(.review) { transaction, events in
            let entry = try IdentityCardRepository(transaction).require(id)
            guard let key = try DataKeyRepository(transaction, keys: keys).find(entry.userID) else {
                throw Refusal.cardOfErasedUser
            }
            let sealed = try key.seal(reason, in: .cardReason, of: id)
            guard
                try IdentityCardRepository(transaction).decide(
                    id, status, by: actor, sealedReason: sealed, at: transaction.now)
            else {
                throw Refusal.notInReview(state: entry.status.rawValue)
            }
            let detail = ["card \(id)", try follow(entry, keys, transaction, &events)].compactMap(\.self).joined(
                separator: ", ")
            let act: AuditedAct =
                status == .verified
                ? .identityVerified(entry.userID, detail: detail) : .cardRejected(entry.userID, detail: detail)
            events.record(act, by: actor)
        }
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
