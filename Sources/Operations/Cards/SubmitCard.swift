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

    private func keep(
        _ facts: CardFacts, _ input: CardInput, _ checks: [CardCheck], _ assurance: Assurance, of scanned: ScannedCard,
        for session: Session
    ) async throws -> EvaluatedCard {
        let id: IdentityCardID = context.environment.newIdentifier()
        let fingerprint = CardFingerprint(scanned.identityCard)
        let document = fingerprint.document.map { keys.blindIndex($0, .document) }
        // A number means one document, whichever kind of card was scanned: anyone can write a barcode.
        let documents = (DocumentName(facts)?.fingerprints ?? []).flatMap { keys.blindIndexes($0, .document) }
        let persons = fingerprint.person.map { keys.blindIndexes($0, .person) } ?? []
        let today = CalendarDate(utcDayOf: context.environment.now())
        let rules = context.policy[\.cards]
        let bans = BanSubjectIndex(keys: keys)
        let evaluated = try await context.act(for: session) { transaction, _, events -> EvaluatedCard? in
            if let name = DocumentName(facts),
                let entry = try bans.activeBan(on: { bans.document(name) }, .document, in: transaction)
            {
                events.record(
                    .banEvaded(session.userID, entry.ban.id, by: .document), by: "device \(session.deviceID)")
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
            let dataKey = try DataKeyRepository(transaction, keys: keys).findOrCreate(session.userID)
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
                guard
                    let changes = try users.identityVerified(
                        session.userID, facts, assurance: assurance, at: transaction.now)
                else { throw Refusal.phoneRequired }
                for change in changes { events.record(.assuranceChanged(change)) }
                if let name = DocumentName(facts) {
                    try bans.extendMessagingBan(
                        to: session.userID, whoProved: { bans.document(name) }, .document, in: transaction)
                }
            }
            events.record(
                status == .verified
                    ? .identityVerified(session.userID, detail: "card \(id)") : .cardInReview(session.userID, id),
                by: "device \(session.deviceID)")
            return EvaluatedCard(
                id: id, status: status,
                assurance: try UserRepository(transaction).find(session.userID)?.assurance ?? .none, checks: all,
                facts: facts,
                age: facts.dateOfBirth.age(on: today))
        }
        guard let evaluated else {
            // The reason is withheld: a barcode is easily forged, and the ban is on the document's real holder.
            throw Refusal.documentBanned
        }
        return evaluated
    }
}
