import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// A card as its holder is told about it.
package struct EvaluatedCard: Sendable {
    package let id: IdentityCardID
    package let status: CardStatus
    /// How far its holder is verified now.
    package let assurance: Assurance
    package let checks: [CardCheck]
    package let facts: CardFacts
    /// The holder's age on the day of the answer.
    package let age: Int
}

/// Judges a card that a user shows: what does not contradict itself lifts the user's level, what a person must look at
/// waits in review, the rest is refused with the reasons.
package struct SubmitCard: Sendable {
    private let store: SessionStore
    private let keys: PersonalKeys
    private let askIssuer: AskIssuer?
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Asks whoever can confirm a card's data; `nil` where nobody is there to ask.
    package typealias AskIssuer = @Sendable (CardFacts) async -> IssuerConfirmation

    /// Judges cards in a store.
    package init(
        store: any Database, keys: PersonalKeys, askIssuer: AskIssuer?, policy: CurrentPolicy,
        environment: Environment
    ) {
        self.store = SessionStore(store)
        self.keys = keys
        self.askIssuer = askIssuer
        self.policy = policy
        self.environment = environment
    }

    /// Judges. A text that cannot be read is no attempt; what is read is counted before it is judged.
    ///
    /// - Throws: `Refusal` `malformed_request`, `conflict` before a phone number is proven, `rate_limited`,
    ///   `card_rejected` with the checks, `user_banned` for a banned document, `unavailable`.
    package func callAsFunction(_ input: CardInput, for session: Session) async throws -> EvaluatedCard {
        let policy = policy[\.cards]
        let now = environment.now()
        let scanned = try input.read(today: CalendarDate(utcDayOf: now))
        let displayName = try await countAttempt(session, policy)
        let assessment = CardAssessment(scanned, at: now, policy: policy, displayName: displayName)
        guard assessment.verdict != .rejected, let facts = CardFacts(scanned.identityCard) else {
            throw Refusal(
                .cardRejected, "The card does not count: see the checks that failed.", checks: assessment.checks)
        }
        var checks = assessment.checks
        var assurance = Assurance.barcode
        if let askIssuer {
            let confirmation = await askIssuer(facts)
            checks.append(confirmation.check)
            if confirmation == .confirmed { assurance = .issuerChecked }
        }
        return try await keep(facts, input, checks, assurance, of: scanned, for: session)
    }

    /// What a user may see of an own card later.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func show(_ text: String, to session: Session) async throws -> EvaluatedCard {
        let today = CalendarDate(utcDayOf: environment.now())
        return try await store.snapshot { transaction in
            guard let id = IdentityCardID(text[...]), let entry = try IdentityCardRepository(transaction).find(id),
                entry.userID == session.userID,
                let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            else { throw Refusal(.notFound, "You have shown no such card.") }
            return EvaluatedCard(
                id: id, status: entry.status,
                assurance: try UserRepository(transaction).find(session.userID)?.assurance ?? .none,
                checks: CardCheck.list(jsonText: entry.checks), facts: facts, age: facts.dateOfBirth.age(on: today))
        }
    }

    private static let phoneFirst = Refusal(
        .conflict, "Prove a phone number first.", about: .phoneVerification, state: Assurance.none.rawValue)

    /// Counts, and gives the name under which the provider knows the user.
    private func countAttempt(_ session: Session, _ policy: CardPolicy) async throws -> String? {
        try await store.act(for: session) { transaction, holder in
            guard holder.user.assurance >= .phone else { throw Self.phoneFirst }
            try RateRepository(transaction).countExactly(
                "card \(session.userID)", limit: RateLimit(count: policy.submissions, per: policy.submissionsPeriod))
            return try UserProfile.find(session.userID, keys: keys, in: transaction).displayName
        }
    }

    private func keep(
        _ facts: CardFacts, _ input: CardInput, _ checks: [CardCheck], _ assurance: Assurance, of scanned: ScannedCard,
        for session: Session
    ) async throws -> EvaluatedCard {
        let id: IdentityCardID = environment.newIdentifier()
        let auditID = environment.newUUID()
        let fingerprint = CardFingerprint(scanned.identityCard)
        let document = fingerprint.document.map { keys.blindIndex($0, .document) }
        // A number is one document, whichever kind of card it was scanned as: the barcode says what its maker wrote.
        let documents = (DocumentName(facts)?.fingerprints ?? []).flatMap { keys.blindIndexes($0, .document) }
        let persons = fingerprint.person.map { keys.blindIndexes($0, .person) } ?? []
        let today = CalendarDate(utcDayOf: environment.now())
        let rules = policy[\.cards]
        let bans = BanSubjectIndex(keys: keys)
        let judged = try await store.act(for: session) { transaction, _ -> EvaluatedCard? in
            if let name = DocumentName(facts),
                let hold = try bans.ruling(on: { bans.document(name) }, .document, in: transaction)
            {
                try AuditRepository(transaction).append(
                    .banEvaded, subject: "user \(session.userID)", actor: "device \(session.deviceID)",
                    detail: "ban \(hold.ban.id), document", id: auditID)
                return nil
            }
            let records = IdentityCardRepository(transaction)
            let others = try records.others(
                than: session.userID, of: session.providerID, documents: documents, persons: persons)
            let isSamePerson = try SealedCard.isSamePerson(
                facts, of: id, as: session.userID, keys: keys, in: transaction)
            let all =
                checks + [
                    CardCheck.uniqueness(sameDocument: others.0, samePerson: others.1), .samePerson(isSamePerson),
                ]
            let status: CardStatus =
                CardAssessment.Verdict(all, policy: rules) == .accepted ? .verified : .inReview
            let dataKey = try DataKeyRepository(transaction, keys: keys).findOrCreate(
                session.userID, at: transaction.now)
            try records.insert(
                .init(
                    id: id, userID: session.userID, providerID: session.providerID, status: status,
                    sealedFacts: try dataKey.seal(facts.jsonText, in: .cardFacts, of: id),
                    sealedInput: status == .inReview ? try dataKey.seal(input.text, in: .cardInput, of: id) : nil,
                    checks: CardCheck.jsonText(all), assurance: assurance, documentIndex: document,
                    personIndex: persons.first,
                    submittedAt: transaction.now, decidedAt: status == .verified ? transaction.now : nil))
            let users = AuthenticatedUserRepository(transaction, keys: keys)
            if status == .verified {
                guard try users.identityVerified(session.userID, facts, assurance: assurance, at: transaction.now)
                else { throw Self.phoneFirst }
                if let name = DocumentName(facts) {
                    try bans.hold(session.userID, whoProved: { bans.document(name) }, .document, in: transaction)
                }
            }
            try AuditRepository(transaction).append(
                status == .verified ? .identityVerified : .cardInReview, subject: "user \(session.userID)",
                actor: "device \(session.deviceID)", detail: "card \(id)", id: auditID)
            return EvaluatedCard(
                id: id, status: status,
                assurance: try UserRepository(transaction).find(session.userID)?.assurance ?? .none, checks: all,
                facts: facts,
                age: facts.dateOfBirth.age(on: today))
        }
        guard let judged else {
            // Why is not said: a barcode is easily made, and the ban is on the document's real holder.
            throw Refusal(.userBanned, "This document is banned: it proves nobody's identity here.")
        }
        return judged
    }
}
