import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Evaluates a card that a user shows. A consistent card raises the user's level. A card that needs a reviewer waits,
/// and any other is refused with the reasons.
package struct SubmitCard: Sendable {
    private let context: Service
    private let askIssuer: AskIssuer?

    /// Queries the service that confirms a card's data; `nil` if there is none.
    package typealias AskIssuer = @Sendable (CardFacts) async -> IssuerConfirmation

    package init(_ context: Service, askIssuer: AskIssuer?) {
        self.context = context
        self.askIssuer = askIssuer
    }

    private var keys: PersonalKeys { context.keys.personal }

    /// Evaluates a card. A text that cannot be parsed does not count as an attempt; any other is counted first.
    ///
    /// - Throws: `Refusal` `malformed_request`, `conflict` before a phone number is proven, `rate_limited`,
    ///   `card_rejected` with the checks, `user_banned` for a banned document, `unavailable`.
    package func callAsFunction(_ input: CardInput, for session: Session) async throws -> EvaluatedCard {
        let policy = context.policy[\.cards]
        let now = context.environment.now()
        let scanned = try input.read(today: CalendarDate(utcDayOf: now))
        let displayName = try await countAttempt(session, policy)
        let assessment = CardAssessment(scanned, at: now, policy: policy, displayName: displayName)
        var card = scanned.identityCard
        card.issuerSignature = assessment.issuerSignature
        guard assessment.verdict != .rejected, let facts = CardFacts(card) else {
            throw Refusal.cardRejected(assessment.checks)
        }
        var checks = assessment.checks
        var assurance = card.issuerSignature.state == .verified ? Assurance.issuerSigned : .barcode
        if let askIssuer {
            let confirmation = await askIssuer(facts)
            checks.append(confirmation.check)
            if confirmation == .confirmed { assurance = .issuerChecked }
        }
        return try await keep(facts, input, checks, assurance, of: scanned, for: session)
    }

    /// Counts the attempt, and returns the user's name at the provider.
    private func countAttempt(_ session: Session, _ policy: CardPolicy) async throws -> String? {
        try await context.act(for: session) { transaction, holder, _ in
            guard holder.user.assurance >= .phone else { throw Refusal.phoneRequired }
            try RateRepository(transaction).countExactly(
                "card \(session.userID)", limit: RateLimit(count: policy.submissions, per: policy.submissionsPeriod))
            return try UserProfile.find(session.userID, keys: keys, in: transaction).displayName
        }
    }

    /// A card that was evaluated, as it is to be kept.
    private struct Submission: Sendable, Confidential {
        let id: IdentityCardID
        let session: Session
        let facts: CardFacts
        let input: String
        let assurance: Assurance
        let fingerprint: CardFingerprint
    }

    private func keep(
        _ facts: CardFacts, _ input: CardInput, _ checks: [CardCheck], _ assurance: Assurance, of scanned: ScannedCard,
        for session: Session
    ) async throws -> EvaluatedCard {
        let card = Submission(
            id: context.environment.newIdentifier(), session: session, facts: facts, input: input.text,
            assurance: assurance, fingerprint: CardFingerprint(scanned.identityCard))
        let today = CalendarDate(utcDayOf: context.environment.now())
        let evaluated = try await context.act(for: session) { transaction, _, events -> EvaluatedCard? in
            guard try !isBanned(card, in: transaction, &events) else { return nil }
            let (status, all) = try insert(card, checks, in: transaction)
            if status == .verified { try raiseLevel(by: card, in: transaction, &events) }
            events.record(
                status == .verified
                    ? .identityVerified(session.userID, detail: "card \(card.id)")
                    : .cardInReview(session.userID, card.id), by: "device \(session.deviceID)")
            return EvaluatedCard(
                id: card.id, status: status,
                assurance: try UserRepository(transaction).find(session.userID)?.assurance ?? .none, checks: all,
                facts: facts, age: facts.dateOfBirth.age(on: today))
        }
        guard let evaluated else { throw Refusal.documentBanned }
        return evaluated
    }

    /// Whether the document is banned, which is then recorded.
    private func isBanned(
        _ card: Submission, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> Bool {
        let bans = BanSubjectIndex(keys: keys)
        guard let name = DocumentName(card.facts),
            let entry = try bans.activeBan(on: { bans.document(name) }, .document, in: transaction)
        else { return false }
        events.record(
            .banEvaded(card.session.userID, entry.ban.id, by: .document), by: "device \(card.session.deviceID)")
        return true
    }

    /// Compares the card with those of this user and of others, and inserts it.
    private func insert(
        _ card: Submission, _ checks: [CardCheck], in transaction: any Transaction
    ) throws -> (CardStatus, [CardCheck]) {
        let user = card.session.userID
        // A number means one document, whichever kind of card was scanned: anyone can write a barcode.
        let documents = (DocumentName(card.facts)?.fingerprints ?? []).flatMap { keys.blindIndexes($0, .document) }
        let persons = card.fingerprint.person.map { keys.blindIndexes($0, .person) } ?? []
        let records = IdentityCardRepository(transaction)
        let others = try records.others(
            than: user, of: card.session.providerID, documents: documents, persons: persons)
        let isSamePerson = try SealedCard.isSamePerson(
            card.facts, of: card.id, as: user, keys: keys, in: transaction)
        let all =
            checks + [CardCheck.uniqueness(sameDocument: others.0, samePerson: others.1), .samePerson(isSamePerson)]
        let status: CardStatus =
            CardAssessment.Verdict(all, policy: context.policy[\.cards]) == .accepted ? .verified : .inReview
        let dataKey = try DataKeyRepository(transaction, keys: keys).findOrCreate(user)
        try records.insert(
            .init(
                id: card.id, userID: user, providerID: card.session.providerID, status: status,
                sealedFacts: try dataKey.seal(card.facts.jsonText, in: .cardFacts, of: card.id),
                sealedInput: status == .inReview ? try dataKey.seal(card.input, in: .cardInput, of: card.id) : nil,
                checks: CardCheck.jsonText(all), assurance: card.assurance,
                documentIndex: card.fingerprint.document.map { keys.blindIndex($0, .document) },
                personIndex: persons.first, submittedAt: transaction.now,
                decidedAt: status == .verified ? transaction.now : nil))
        return (status, all)
    }

    /// Gives the user the level of an accepted card, and the messaging ban of its document, if there is one.
    private func raiseLevel(
        by card: Submission, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let user = card.session.userID
        guard
            let changes = try AuthenticatedUserRepository(transaction, keys: keys).identityVerified(
                user, card.facts, assurance: card.assurance, at: transaction.now)
        else { throw Refusal.phoneRequired }
        for change in changes { events.record(.assuranceChanged(change)) }
        guard let name = DocumentName(card.facts) else { return }
        let bans = BanSubjectIndex(keys: keys)
        try bans.extendMessagingBan(to: user, whoProved: { bans.document(name) }, .document, in: transaction)
    }
}
