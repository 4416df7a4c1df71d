import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// A reviewer's decisions about cards that no rule could judge. Looking at a card is looking at a person: it is
/// written into the audit log.
package struct ReviewCards: Sendable {
    private let store: any Database
    private let keys: PersonalKeys
    private let environment: Environment
    private let actor: String

    /// Reviews in a store, in somebody's name.
    package init(store: any Database, keys: PersonalKeys, environment: Environment, actor: String) {
        self.store = store
        self.keys = keys
        self.environment = environment
        self.actor = actor
    }

    /// A card in review, without what is on it.
    package struct Waiting: Sendable {
        package let id: IdentityCardID
        package let userID: UserID
        package let submittedAt: Date
        package let failed: [CardCheck]
    }

    /// A card as a reviewer sees it.
    package struct Opened: Sendable {
        package let entry: IdentityCardRepository.Entry
        /// `nil` where the user was erased meanwhile.
        package let facts: CardFacts?
        package let checks: [CardCheck]
        /// Why it was decided, once it is.
        package let reason: String?
        /// `<provider slug>/<external id>` of the card's user; `nil` where there is no such user any more.
        package let account: String?
        /// The name under which the provider knows the user now.
        package let accountName: String?
        /// Other users of the provider who showed the document, or a card of the person.
        package let others: [Other]
    }

    /// Another user to whom a card points.
    package struct Other: Sendable {
        package let userID: UserID
        /// `<provider slug>/<external id>`.
        package let account: String?
        package let shared: Shared

        /// What two users can both have shown.
        package enum Shared: String, Sendable {
            case document
            case person
        }
    }

    /// More others than these are not shown: what they say is said by then.
    private static let maximumOthers = 20

    /// The cards that wait, oldest first.
    package func list(limit: Int) async throws -> [Waiting] {
        try await store.snapshot { transaction in
            try IdentityCardRepository(transaction).listInReview(limit: limit).map { entry in
                Waiting(
                    id: entry.id, userID: entry.userID, submittedAt: entry.submittedAt,
                    failed: CardCheck.list(jsonText: entry.checks).filter { $0.result == .failed })
            }
        }
    }

    /// Opens a card.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func show(_ id: IdentityCardID) async throws -> Opened {
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let entry = try find(id, in: transaction)
            try AuditRepository(transaction).append(
                .personalDataRead, subject: "user \(entry.userID)", actor: actor, detail: "card \(id)",
                reason: "card_review", id: auditID)
            let key = try DataKeyRepository(transaction, keys: keys).find(entry.userID)
            let reason = try IdentityCardRepository(transaction).sealedReason(id).flatMap { sealed in
                try key?.open(sealed, in: .cardReason, of: id)
            }
            let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            return Opened(
                entry: entry, facts: facts, checks: CardCheck.list(jsonText: entry.checks), reason: reason,
                account: try account(of: entry.userID, in: transaction),
                accountName: try UserProfile.find(entry.userID, keys: keys, in: transaction).displayName,
                others: try others(than: entry, facts, in: transaction))
        }
    }

    /// Who else showed the document or person, as it is now: meanwhile one may have been erased, another have come.
    private func others(
        than entry: IdentityCardRepository.Entry, _ facts: CardFacts?, in transaction: any Transaction
    ) throws -> [Other] {
        let documents = (facts.flatMap { DocumentName($0) }?.fingerprints ?? []).flatMap {
            keys.blindIndexes($0, .document)
        }
        let person = facts.flatMap { CardFingerprint.person(of: $0) }
        let persons = person.map { keys.blindIndexes($0, .person) } ?? []
        let found = try IdentityCardRepository(transaction).others(
            than: entry.userID, of: entry.providerID,
            documents: documents + (entry.documentIndex.map { [$0] } ?? []),
            persons: persons + (entry.personIndex.map { [$0] } ?? []))
        let sameDocument = Set(found.sameDocument)
        let all =
            found.sameDocument.map { ($0, Other.Shared.document) }
            + found.samePerson.filter { !sameDocument.contains($0) }.map { ($0, .person) }
        return try all.prefix(Self.maximumOthers).map { user, shared in
            Other(userID: user, account: try account(of: user, in: transaction), shared: shared)
        }.sorted { ($0.shared.rawValue, $0.account ?? "") < ($1.shared.rawValue, $1.account ?? "") }
    }

    private func account(of user: UserID, in transaction: any Transaction) throws -> String? {
        guard let user = try UserRepository(transaction).find(user) else { return nil }
        return try ProviderRepository(transaction).find(user.providerID)?.address(of: user.externalID)
    }

    /// The card counts. Where it is another person's than the card by which the user was verified before, everything that
    /// the former person was permitted, or asked for, ends with it.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` where it was decided before, its document is banned, or the number
    ///   is another user's now.
    package func approve(_ id: IdentityCardID, reason: String) async throws {
        try await decide(id, .verified, reason, .identityVerified) { entry, transaction in
            let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            let bans = BanSubjectIndex(keys: keys)
            if let name = facts.flatMap({ DocumentName($0) }),
                let hold = try bans.ruling(on: { bans.document(name) }, .document, in: transaction)
            {
                throw Refusal(.conflict, "The document is banned by ban \(hold.ban.id).", state: "banned")
            }
            let isSamePerson = try facts.flatMap {
                try SealedCard.isSamePerson($0, of: id, as: entry.userID, keys: keys, in: transaction)
            }
            guard let facts,
                try AuthenticatedUserRepository(transaction, keys: keys).identityVerified(
                    entry.userID, facts, assurance: entry.assurance, at: transaction.now)
            else {
                throw Refusal(
                    .conflict, "The user no longer holds a proven phone number; only rejection is left.",
                    state: entry.status.rawValue)
            }
            if let name = DocumentName(facts) {
                try bans.hold(entry.userID, whoProved: { bans.document(name) }, .document, in: transaction)
            }
            guard isSamePerson == false else { return nil }
            let count = try AuthorizationRepository(transaction).withdraw(
                allOf: entry.userID, because: .cancelled, at: transaction.now)
            return "another person's, authorizations withdrawn: \(count)"
        }
    }

    /// The card does not count; the user may show another one.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` where it was decided before.
    package func reject(_ id: IdentityCardID, reason: String) async throws {
        try await decide(id, .rejected, reason, .cardRejected) { _, _ in nil }
    }

    private func decide(
        _ id: IdentityCardID, _ status: CardStatus, _ reason: String, _ event: AuditRepository.Event,
        _ follow: @escaping @Sendable (IdentityCardRepository.Entry, any Transaction) throws -> String?
    ) async throws {
        try PlainText.require(reason, "A reason", bytes: 0...4096, for: .note)
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            let entry = try find(id, in: transaction)
            guard let key = try DataKeyRepository(transaction, keys: keys).find(entry.userID) else {
                throw Refusal(.notFound, "The card's user was erased.")
            }
            let sealed = try key.seal(reason, in: .cardReason, of: id)
            guard
                try IdentityCardRepository(transaction).decide(
                    id, status, by: actor, sealedReason: sealed, at: transaction.now)
            else {
                throw Refusal(
                    .conflict, "The card is not in review: it is \(entry.status.rawValue).",
                    state: entry.status.rawValue)
            }
            let detail = ["card \(id)", try follow(entry, transaction)].compactMap(\.self).joined(separator: ", ")
            try AuditRepository(transaction).append(
                event, subject: "user \(entry.userID)", actor: actor, detail: detail, id: auditID)
        }
    }

    private func find(
        _ id: IdentityCardID, in transaction: any Transaction
    ) throws -> IdentityCardRepository.Entry {
        guard let entry = try IdentityCardRepository(transaction).find(id) else {
            throw Refusal(.notFound, "There is no such card.")
        }
        return entry
    }
}
