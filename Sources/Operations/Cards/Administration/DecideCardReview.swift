import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// A reviewer's decisions about cards.
package struct DecideCardReview: Sendable {
    private let context: Administration
    private let keys: PersonalKeys

    package init(_ context: Administration, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// Accepts the card. If the user was verified by another person's card before, the former person's permissions
    /// and requests end.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if the card was decided before, its document is banned, or the
    ///   number is another user's now.
    package func approve(_ id: IdentityCardID, reason: String) async throws {
        try await decide(id, .verified, reason) { entry, transaction, events in
            let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            let bans = BanSubjectIndex(keys: keys)
            if let name = facts.flatMap({ DocumentName($0) }),
                let entry = try bans.activeBan(on: { bans.document(name) }, .document, in: transaction)
            {
                throw Refusal.reviewedDocumentBanned(by: entry.ban.id)
            }
            let isSamePerson = try facts.flatMap {
                try SealedCard.isSamePerson($0, of: id, as: entry.userID, keys: keys, in: transaction)
            }
            guard let facts,
                let changes = try AuthenticatedUserRepository(transaction, keys: keys).identityVerified(
                    entry.userID, facts, assurance: entry.assurance, at: transaction.now)
            else {
                throw Refusal.cardWithoutNumber(state: entry.status.rawValue)
            }
            for change in changes { events.record(.assuranceChanged(change)) }
            if let name = DocumentName(facts) {
                try bans.extendMessagingBan(
                    to: entry.userID, whoProved: { bans.document(name) }, .document, in: transaction)
            }
            guard isSamePerson == false else { return nil }
            let count = try AuthorizationRepository(transaction).withdraw(
                allOf: entry.userID, because: .cancelled, at: transaction.now)
            let more = count < AuthorizationRepository.countLimit ? "" : " or more"
            return "another person's, authorizations withdrawn: \(count)\(more)"
        }
    }

    /// Rejects the card; the user may show another one.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if the card was decided before.
    package func reject(_ id: IdentityCardID, reason: String) async throws {
        try await decide(id, .rejected, reason) { _, _, _ in nil }
    }

    private func decide(
        _ id: IdentityCardID, _ status: CardStatus, _ reason: String,
        _ follow:
            @escaping @Sendable (
                IdentityCardRepository.Entry, any Transaction, inout RecordedEvents
            ) throws -> String?
    ) async throws {
        try PlainText.require(reason, about: .reason, bytes: 0...4096, for: .note)
        try await context.write { transaction, events in
            let entry = try IdentityCardRepository(transaction).require(id)
            guard let key = try DataKeyRepository(transaction, keys: keys).find(entry.userID) else {
                throw Refusal.cardOfErasedUser
            }
            let sealed = try key.seal(reason, in: .cardReason, of: id)
            guard
                try IdentityCardRepository(transaction).decide(
                    id, status, by: context.actor, sealedReason: sealed, at: transaction.now)
            else {
                throw Refusal.notInReview(state: entry.status.rawValue)
            }
            let detail = ["card \(id)", try follow(entry, transaction, &events)].compactMap(\.self).joined(
                separator: ", ")
            let act: AuditedAct =
                status == .verified
                ? .identityVerified(entry.userID, detail: detail) : .cardRejected(entry.userID, detail: detail)
            events.record(act, by: context.actor)
        }
    }
}
