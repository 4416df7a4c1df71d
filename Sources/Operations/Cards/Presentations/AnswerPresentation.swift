import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// The answer of a wallet, as its app received it.
package struct WalletAnswer: Sendable, Confidential {
    package let walletProtocol: Presentation.WalletProtocol
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
    /// The answer is counted first. The first one that can be decrypted ends the presentation, accepted or refused, in the
    /// transaction that stores the result. An answer that cannot be parsed or decrypted leaves it open.
    ///
    /// - Throws: `Refusal` `not_found`; `conflict` after another answer or too late; `presentation_rejected` with the
    ///   reason; for an identity also `card_rejected`, and `user_banned` for a banned document; `rate_limited`.
    func answerPresentation(
        _ text: String, _ answer: WalletAnswer, for session: Session
    ) async throws -> PresentationOutcome {
        let wallet = try requireWallet()
        guard let id = PresentationID(text[...]) else { throw Refusal.unknownPresentation }
        let counted = try await countAnswer(id, session)
        let verified: PresentationVerifier.Verified
        do throws(PresentationDefect) {
            verified = try await verify(answer, to: counted, by: wallet)
        } catch {
            let refusal = Refusal.presentationRejected(error)
            if !error.isUnreadable { try await refuse(id, error.reason.rawValue, for: session) }
            throw refusal
        }
        let presentation = counted.presentation
        guard let proof = AgeProof(presentation.wanted), let age = presentation.wanted.age else {
            return .card(try await keepIdentity(verified.identity, counted, for: session))
        }
        let isReached = verified.isAtLeast(age)
        try await act(for: session) { [personal = keys.personal] transaction, _, events in
            try Self.end(id, session, .accepted, in: transaction)
            guard isReached else { return }
            try AgeProofRepository(transaction, keys: personal).add(proof, of: session.userID, at: transaction.now)
            events.record(
                .ageProven(session.userID, of: session.providerID, proof), by: "device \(session.deviceID)")
        }
        return .age(id, presentation.wanted, isReached: isReached)
    }

    /// A presentation whose answer was counted.
    private struct Counted: Sendable {
        let presentation: Presentation
        let keys: PresentationKeys
        /// The user's name at the provider.
        let displayName: String?
    }

    private func countAnswer(_ id: PresentationID, _ session: Session) async throws -> Counted {
        let personal = keys.personal
        return try await act(for: session) { transaction, _, _ in
            let records = PresentationRepository(transaction)
            guard let entry = try records.countAttempt(id, of: session) else { throw Refusal.unknownPresentation }
            try entry.presentation.requireAnswerable(at: transaction.now)
            guard let sealed = entry.sealedKey,
                let key = try DataKeyRepository(transaction, keys: personal).find(session.userID),
                let keys = PresentationKeys(text: try key.open(sealed, in: .presentationKey, of: id))
            else { throw Refusal.presentationExpired }
            let name = try UserProfile.find(session.userID, keys: personal, in: transaction).displayName
            return Counted(presentation: entry.presentation, keys: keys, displayName: name)
        }
    }

    private func verify(
        _ answer: WalletAnswer, to counted: Counted, by wallet: Wallet
    ) async throws(PresentationDefect) -> PresentationVerifier.Verified {
        let presentation = counted.presentation
        let (channel, key, credentials): (PresentationRequest.Channel, ResponseKey, [RequestedCredential])
        let given: PresentationVerifier.Answer
        switch answer.walletProtocol {
        case .openID4VP:
            channel = .digitalCredentials(origin: presentation.origin)
            (key, credentials) = (counted.keys.openID4VP, WalletQuery.credentials(for: presentation.wanted))
            given = .encrypted(answer.response, key)
        case .isoDocument:
            key = counted.keys.isoDocument
            guard let info = try? DocumentRequest.encryptionInfo(of: presentation, point: key.point) else {
                throw PresentationDefect(.undecryptable, "The key of the request is lost. Begin a new presentation.")
            }
            channel = .annexC(origin: presentation.origin, encryptionInfo: info)
            credentials = [WalletQuery.isoDocument(for: presentation.wanted)]
            given = .annexC(answer.response, key)
        }
        let request = PresentationRequest(
            channel: channel, nonce: presentation.nonceText, keyThumbprint: key.thumbprint, credentials: credentials)
        let verifier = PresentationVerifier(trust: wallet.trust, status: policy[\.wallet].status, lists: [])
        return try await verifier.verify(given, to: request, now: environment.now()) {
            await wallet.statusList($0)
        }
    }

    /// Ends a presentation that was refused. The user may begin another one.
    private func refuse(_ id: PresentationID, _ reason: String, for session: Session) async throws {
        try await act(for: session) { transaction, _, events in
            try Self.end(id, session, .refused, reason, in: transaction)
            events.record(.presentationRefused(session.userID, reason: reason), by: "device \(session.deviceID)")
        }
    }

    /// - Throws: `Refusal` `conflict` if another answer was faster, or the request has expired.
    private static func end(
        _ id: PresentationID, _ session: Session, _ state: Presentation.State, _ reason: String? = nil,
        in transaction: any Transaction
    ) throws {
        guard try PresentationRepository(transaction).end(id, of: session, state, reason: reason) else {
            let found = try PresentationRepository(transaction).find(id, of: session)?.presentation
            throw found?.progress(at: transaction.now) == .expired
                ? Refusal.presentationExpired : Refusal.presentationAnswered
        }
    }

    /// Evaluates the card that a credential has the data of, like one that was scanned, and stores it.
    private func keepIdentity(
        _ identity: PresentedIdentity, _ counted: Counted, for session: Session
    ) async throws -> EvaluatedCard {
        let id = counted.presentation.id
        let card = ScannedCard.presented(IdentityCard(identity))
        let assessment = CardAssessment(
            card, at: environment.now(), policy: policy[\.cards], displayName: counted.displayName)
        guard assessment.verdict != .rejected, let facts = CardFacts(card.identityCard) else {
            let refusal = Refusal.cardRejected(assessment.checks)
            try await refuse(id, refusal.code.rawValue, for: session)
            throw refusal
        }
        return try await keep(facts, nil, assessment.checks, .credential, of: card, for: session) {
            transaction, isAccepted in
            try Self.end(
                id, session, isAccepted ? .accepted : .refused,
                isAccepted ? nil : Refusal.Code.userBanned.rawValue, in: transaction)
        }
    }
}

extension PresentationVerifier.Verified {
    fileprivate var identity: PresentedIdentity {
        switch self {
        case .document(let document): document.identity
        case .credential(let credential): credential.identity
        }
    }

    /// Whether the holder is at least this old. A rule has required the statement.
    fileprivate func isAtLeast(_ age: Int) -> Bool {
        switch self {
        case .document(let document): document.isAtLeast(age) ?? false
        case .credential: false
        }
    }
}
