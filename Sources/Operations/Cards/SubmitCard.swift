import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Queries the service that confirms a card's data.
package typealias AskIssuer = @Sendable (CardFacts) async -> IssuerConfirmation

/// The data of an evaluated card that is stored.
private struct Submission: Sendable, Confidential {
    let id: IdentityCardID
    let session: Session
    let facts: CardFacts
    /// What was scanned, for a reviewer; `nil` for what a wallet presented, of which no more is kept than of others.
    let input: String?
    let assurance: Assurance
    let fingerprint: CardFingerprint
}

package extension Service {
    /// A card as its holder sees it.
    struct EvaluatedCard: Sendable {
        package let id: IdentityCardID
        package let status: CardStatus
        /// The holder's level after the evaluation.
        package let assurance: Assurance
        package let checks: [CardCheck]
        package let facts: CardFacts
        /// The holder's age on the day of the response.
        package let age: Int
    }

    /// The card as an app sends it.
    enum CardInput: Sendable, Confidential {
        /// The text of a PDF417 barcode, base64 (standard or url).
        case aamva(String)
        /// The lines of a machine readable zone.
        case mrz(String)

        /// Parses the input into a card.
        ///
        /// - Throws: `Refusal` `malformed_request` with the defect.
        func read(today: CalendarDate) throws(Refusal) -> ScannedCard {
            switch self {
            case .aamva(let text):
                let standard = text.replacing("-", with: "+").replacing("_", with: "/").filter { !$0.isWhitespace }
                let padded = standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
                guard let bytes = Data(base64Encoded: padded) else {
                    throw Refusal.barcodeNotBase64
                }
                return try .read(barcode: Array(bytes), today: today)
            case .mrz(let text): return .machineReadable(try MachineReadableZone.read(text, today: today))
            }
        }

        var text: String {
            switch self {
            case .aamva(let text), .mrz(let text): text
            }
        }
    }

    /// Evaluates a card that a user submits. A consistent card raises the user's level. A card that needs a reviewer
    /// waits, and any other card is refused with the reasons. A text that cannot be parsed is not counted as an
    /// attempt. Any other text is counted first.
    ///
    /// - Parameter askIssuer: queries the service that confirms a card's data; `nil` if there is none.
    /// - Throws: `Refusal` `malformed_request`, `conflict` before a phone number is proven, `rate_limited`,
    ///   `card_rejected` with the checks, `user_banned` for a banned document, `unavailable`.
    func submitCard(
        _ input: CardInput, for session: Session, askIssuer: AskIssuer?
    ) async throws -> EvaluatedCard {
        let policy = policy[\.cards]
        let now = environment.now()
        let scanned = try input.read(today: CalendarDate(utcDayOf: now))
        let displayName = try await countCard(session, policy)
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
        return try await keep(facts, input.text, checks, assurance, of: scanned, for: session)
    }

    /// Counts the attempt, and returns the user's name at the provider.
    private func countCard(_ session: Session, _ policy: CardPolicy) async throws -> String? {
        try await act(for: session) { transaction, holder, _ in
            guard holder.user.assurance >= .phone else { throw Refusal.phoneRequired }
            try RateRepository(transaction).countExactly(
                "card \(session.userID)", limit: RateLimit(count: policy.submissions, per: policy.submissionsPeriod))
            return try UserProfile.find(session.userID, keys: keys.personal, in: transaction).displayName
        }
    }

    /// Compares a consistent card with other cards, and stores it.
    ///
    /// - Parameter settle: ends what the card came by, in the same transaction. It gets whether the card is accepted, and
    ///   throws if it ended meanwhile.
    internal func keep(
        _ facts: CardFacts, _ input: String?, _ checks: [CardCheck], _ assurance: Assurance, of scanned: ScannedCard,
        for session: Session, settle: @Sendable @escaping (any Transaction, Bool) throws -> Void = { _, _ in }
    ) async throws -> EvaluatedCard {
        let card = Submission(
            id: environment.newIdentifier(), session: session, facts: facts, input: input,
            assurance: assurance, fingerprint: CardFingerprint(scanned.identityCard))
        let today = CalendarDate(utcDayOf: environment.now())
        let evaluated = try await act(for: session) { transaction, _, events -> EvaluatedCard? in
            let isBanned = try isBanned(card, in: transaction, &events)
            try settle(transaction, !isBanned)
            guard !isBanned else { return nil }
            let (status, all) = try insert(card, checks, in: transaction)
            if status == .verified {
                let isAccepted = try facts.accept(
                    of: session.userID, assurance: assurance, keys: keys.personal, in: transaction, &events)
                guard isAccepted else { throw Refusal.phoneRequired }
            }
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

    /// Whether the document is banned. A ban is recorded in the audit log.
    private func isBanned(
        _ card: Submission, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> Bool {
        let bans = BanSubjectIndex(keys: keys.personal)
        guard let name = DocumentName(card.facts),
            let entry = try bans.activeBan(on: .document(name), in: transaction)
        else { return false }
        events.record(
            .banEvaded(card.session.userID, entry.ban.id, by: .document), by: "device \(card.session.deviceID)")
        return true
    }

    /// Compares the card with the cards of this user and of other users, and inserts it.
    private func insert(
        _ card: Submission, _ checks: [CardCheck], in transaction: any Transaction
    ) throws -> (CardStatus, [CardCheck]) {
        let (user, keys) = (card.session.userID, keys.personal)
        // A number identifies one document, whichever kind of card was scanned, because anyone can write a barcode.
        let documents = DocumentName(card.facts).map { keys.indexes(of: $0) } ?? []
        let persons = card.fingerprint.person.map { keys.blindIndexes($0, .person) } ?? []
        let records = IdentityCardRepository(transaction)
        let others = try records.others(
            than: user, of: card.session.providerID, documents: documents, persons: persons)
        let isSamePerson = try SealedCard.isSamePerson(
            card.facts, of: card.id, as: user, keys: keys, in: transaction)
        let all =
            checks + [CardCheck.uniqueness(sameDocument: others.0, samePerson: others.1), .samePerson(isSamePerson)]
        let status: CardStatus =
            CardAssessment.Verdict(all, policy: policy[\.cards]) == .accepted ? .verified : .inReview
        let dataKey = try DataKeyRepository(transaction, keys: keys).findOrCreate(user)
        try records.insert(
            .init(
                id: card.id, userID: user, providerID: card.session.providerID, status: status,
                sealedFacts: try dataKey.seal(card.facts.jsonText, in: .cardFacts, of: card.id),
                sealedInput: status == .inReview
                    ? try card.input.map { try dataKey.seal($0, in: .cardInput, of: card.id) } : nil,
                checks: CardCheck.jsonText(all), assurance: card.assurance,
                documentIndex: card.fingerprint.document.map { keys.blindIndex($0, .document) },
                personIndex: persons.first, submittedAt: transaction.now,
                decidedAt: status == .verified ? transaction.now : nil))
        return (status, all)
    }

    /// The data of an own card that a user may see later.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readCard(_ text: String, to session: Session) async throws -> EvaluatedCard {
        let today = CalendarDate(utcDayOf: environment.now())
        return try await read { [keys = keys.personal] transaction in
            guard let id = IdentityCardID(text[...]), let entry = try IdentityCardRepository(transaction).find(id),
                entry.userID == session.userID,
                let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            else { throw Refusal.unknownOwnCard }
            return EvaluatedCard(
                id: id, status: entry.status,
                assurance: try UserRepository(transaction).find(session.userID)?.assurance ?? .none,
                checks: CardCheck.list(jsonText: entry.checks), facts: facts, age: facts.dateOfBirth.age(on: today))
        }
    }
}
