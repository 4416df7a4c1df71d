import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// The answer of a wallet, as its app received it.
package struct WalletAnswer: Sendable, Confidential {
    let walletProtocol: Presentation.WalletProtocol
    /// A compact JWE, or base64url.
    package let response: String

    package init(_ walletProtocol: Presentation.WalletProtocol, response: String) {
        self.walletProtocol = walletProtocol
        self.response = response
    }
}

/// What came of an accepted answer.
package enum PresentationOutcome: Sendable {
    case card(Service.EvaluatedCard)
    /// Whether the user has reached the age that was asked for.
    case age(PresentationID, Presentation.Wanted, isReached: Bool)
}

package extension Service {
    /// Verifies the answer of a wallet, and stores what it proves: a card, or one bit for an age.
    ///
    /// Each answer is counted before it is read. The first answer with a credential ends the presentation, accepted or
    /// refused, in the transaction that stores the result. An answer that is empty or cannot be read leaves it open.
    ///
    /// - Throws: `Refusal` `not_found`; `conflict` after another answer or too late; `presentation_rejected` with the
    ///   reason; for an identity also `card_rejected`, and `user_banned` for a banned document; `rate_limited`.
    func answerPresentation(
        _ text: String, _ answer: WalletAnswer, for session: Session
    ) async throws -> PresentationOutcome {
        let wallet = try requireWallet(.digitalCredentials)
        guard let id = PresentationID(text[...]) else { throw Refusal.unknownPresentation }
        let (presentation, keys) = try await countAnswer(id, session)
        let query = try query(for: presentation.wanted, wallet)
        let result: PresentationResult
        do throws(PresentationDefect) {
            let (given, request) = try Self.request(answer, presentation, query, keys)
            result = try await verify(given, to: request, of: presentation, by: wallet)
        } catch {
            let refusal = Refusal.presentationRejected(error)
            if !error.leavesOpen { try await refuse(presentation, error.reason.rawValue, for: session) }
            throw refusal
        }
        return try await accept(result, of: presentation, for: session)
    }

    private func countAnswer(
        _ id: PresentationID, _ session: Session
    ) async throws -> (Presentation, PresentationKeys) {
        try await act(for: session) { [personal = keys.personal] transaction, _, _ in
            guard let entry = try PresentationRepository(transaction).countAttempt(id, of: session) else {
                throw Refusal.unknownPresentation
            }
            guard entry.presentation.channel == .digitalCredentials else { throw Refusal.otherChannel }
            try entry.presentation.requireAnswerable(at: transaction.now, isCounted: true)
            guard let keys = try PresentationKeys.open(entry, keys: personal, in: transaction) else {
                throw Refusal.presentationExpired
            }
            return (entry.presentation, keys)
        }
    }

    /// The request that the answer must answer, by its protocol.
    private static func request(
        _ answer: WalletAnswer, _ presentation: Presentation, _ query: CredentialQuery, _ keys: PresentationKeys
    ) throws(PresentationDefect) -> (PresentationVerifier.Answer, PresentationRequest) {
        let (channel, key, credentials): (PresentationRequest.Channel, ResponseKey, [RequestedCredential])
        let given: PresentationVerifier.Answer
        switch answer.walletProtocol {
        case .openID4VP:
            channel = .digitalCredentials(origin: presentation.origin)
            (key, credentials) = (keys.openID4VP, query.credentials)
            given = .encrypted(answer.response, key)
        case .isoDocument:
            key = keys.isoDocument
            guard let info = try? DocumentRequest.encryptionInfo(of: presentation, point: key.point) else {
                throw PresentationDefect(.undecryptable, "The key of the request is lost. Begin a new presentation.")
            }
            channel = .annexC(origin: presentation.origin, encryptionInfo: info)
            // A format that is no longer allowed is no longer accepted.
            let asked = WalletQuery.isoDocument(for: presentation.wanted)
            credentials = query.credentials.filter { $0 == asked }
            given = .annexC(answer.response, key)
        }
        return (
            given,
            PresentationRequest(
                channel: channel, nonce: presentation.nonceText, keyThumbprint: key.thumbprint,
                credentials: credentials)
        )
    }

    /// Stores what an answer proves, and ends the presentation in the same transaction.
    internal func accept(
        _ result: PresentationResult, of presentation: Presentation, for session: Session
    ) async throws -> PresentationOutcome {
        switch result {
        case .identity(let identity, let isStatusUnknown):
            return .card(
                try await keepIdentity(identity, isStatusUnknown ? [.unknownStatus] : [], presentation, for: session))
        case .age(let isReached, let credential):
            let limit = policy[\.wallet].ageProofsPerCredential
            try await act(for: session) { [personal = keys.personal] transaction, _, events in
                try Self.end(presentation, session, .accepted, in: transaction)
                guard isReached, let proof = AgeProof(presentation.wanted) else { return }
                if let credential, limit > 0 {
                    try RateRepository(transaction).countExactly(
                        "age credential \(credential.base64URL)",
                        limit: RateLimit(count: limit, per: WalletPolicy.ageProofPeriod))
                }
                try AgeProofRepository(transaction, keys: personal).add(
                    proof, of: session.userID, at: transaction.now)
                events.record(
                    .ageProven(session.userID, of: session.providerID, proof), by: "device \(session.deviceID)")
            }
            return .age(presentation.id, presentation.wanted, isReached: isReached)
        }
    }

    /// Ends a presentation that was refused. The user may begin another one.
    private func refuse(_ presentation: Presentation, _ reason: String, for session: Session) async throws {
        try await act(for: session) { transaction, _, events in
            try Self.end(presentation, session, .refused, reason, in: transaction)
            events.record(.presentationRefused(session.userID, reason: reason), by: "device \(session.deviceID)")
        }
    }

    /// - Throws: `Refusal` `conflict` if another answer was faster, or the time is over.
    private static func end(
        _ presentation: Presentation, _ session: Session, _ state: Presentation.State, _ reason: String? = nil,
        in transaction: any Transaction
    ) throws {
        let records = PresentationRepository(transaction)
        guard try records.end(presentation.id, of: session, from: presentation.state, state, reason: reason) else {
            let found = try records.find(presentation.id, of: session)?.presentation
            throw found?.state(at: transaction.now) == .expired
                ? Refusal.presentationExpired : Refusal.presentationAnswered
        }
    }

    /// Evaluates the card that a credential has the data of, like one that was scanned, and stores it.
    ///
    /// - Parameter checks: those of the credential that do not refuse it.
    private func keepIdentity(
        _ identity: PresentedIdentity, _ checks: [CardCheck], _ presentation: Presentation, for session: Session
    ) async throws -> EvaluatedCard {
        let card = ScannedCard.presented(IdentityCard(identity))
        let displayName = try await read { [personal = keys.personal] transaction in
            try UserProfile.find(session.userID, keys: personal, in: transaction).displayName
        }
        let assessment = CardAssessment(
            card, at: environment.now(), policy: policy[\.cards], displayName: displayName)
        guard assessment.verdict != .rejected, let facts = CardFacts(card.identityCard) else {
            let refusal = Refusal.cardRejected(assessment.checks)
            try await refuse(presentation, refusal.code.rawValue, for: session)
            throw refusal
        }
        return try await keep(facts, nil, assessment.checks + checks, .credential, of: card, for: session) {
            transaction, isAccepted in
            try Self.end(
                presentation, session, isAccepted ? .accepted : .refused,
                isAccepted ? nil : Refusal.Code.userBanned.rawValue, in: transaction)
        }
    }
}
