import Database
import Delivery
import Domain
import Foundation
import PhoneNumbers
import Repositories
import Tokens

/// Starts a phone verification. The response is the same for every well-formed number: only the holder of the number
/// learns whether a text was sent.
package struct StartPhoneVerification: Sendable {
    private let context: Service
    private let verifyCaptcha: @Sendable (String) async throws -> Bool

    /// - Parameter verifyCaptcha: asks the siteverify endpoint about a captcha's response.
    package init(_ context: Service, verifyCaptcha: @escaping @Sendable (String) async throws -> Bool) {
        self.context = context
        self.verifyCaptcha = verifyCaptcha
    }

    package struct Request: Sendable, Confidential {
        /// E.164, or a national form with ``region``.
        package let phoneNumber: String
        /// The region of a national form, ISO 3166-1 alpha-2.
        package let region: String?
        /// The ARN of the push endpoint to store with the number.
        package let pushEndpoint: String?
        /// The presence proof, a compact JWS.
        package let presence: String?
        /// The response of a solved captcha.
        package let captcha: String?
        package let languages: LanguagePreferences
        /// The limit's key for the sender's address.
        package let address: String

        package init(
            phoneNumber: String, region: String?, pushEndpoint: String?, presence: String?, captcha: String? = nil,
            languages: LanguagePreferences = .none, address: String
        ) {
            self.phoneNumber = phoneNumber
            self.region = region
            self.pushEndpoint = pushEndpoint
            self.presence = presence
            self.captcha = captcha
            self.languages = languages
            self.address = address
        }
    }

    /// Starts a verification, or returns the one of the same number that is still open on this device.
    ///
    /// - Throws: `Refusal` `malformed_request`, `invalid_presence_proof`, `unavailable`, or `rate_limited` if the
    ///   user's own address or account exceeds a limit.
    package func callAsFunction(
        _ request: Request, for session: Session, on connection: ClientConnection
    ) async throws -> StartedPhoneVerification {
        let policy = context.policy[\.phones]
        let (keys, codes) = (context.keys.personal, context.keys.phoneCodes)
        let texts = PhoneTexts(context: context)
        let number = try PhoneNumber(fromCaller: request.phoneNumber, region: request.region)
        let endpoint = try request.pushEndpoint.map { arn throws(Refusal) in
            try PushEndpoint(arn, of: policy.pushApplications)
        }
        let presence = try await presenceNonce(request.presence, for: number, session, on: connection)
        let evidence: SendEvidence? =
            if try await isSolved(request.captcha) { .captcha } else { presence.map { _ in SendEvidence.presence } }
        let names = PhoneTexts.Names(context.environment)
        let id: PhoneVerificationID = context.environment.newIdentifier()

        let recipient = PhoneTexts.Recipient(userID: session.userID, number: number, address: request.address)
        let indexes = keys.phoneIndexes(number.e164)
        let findLive = { @Sendable (transaction: any Transaction) in
            try PhoneVerificationRepository(transaction).findUnexpired(
                userID: session.userID, deviceID: session.deviceID, numberIndexes: indexes)
        }
        let lookAhead: SessionHolder.Ahead = { try texts.lookAhead(recipient, in: $0) }
        let started = try await context.act(for: session, inTurn: .texts, ahead: lookAhead) {
            transaction, _, events -> StartedPhoneVerification in
            // All is read before anything is written.
            let limits = try texts.limits(for: recipient, in: transaction) { _ = try findLive($0) }
            let (live, records) = (try findLive(transaction), PhoneVerificationRepository(transaction))
            let dataKey = try DataKeyRepository(transaction, keys: keys).findOrCreate(session.userID)
            if let live, live.challenge.state(now: transaction.now, policy: policy) == .open {
                let sealed = try endpoint.map {
                    try dataKey.seal($0.arn, in: .verificationPushEndpoint, of: live.challenge.id)
                }
                try records.replacePushEndpoint(live.challenge.id, sealed: sealed)
                if let presence { try spend(presence, of: session, in: transaction) }
                return StartedPhoneVerification(live.challenge, outcome: nil, policy: policy)
            }
            var challenge = PhoneVerification.start(
                id: id, userID: session.userID, deviceID: session.deviceID, keyVersion: codes.currentVersion,
                isSent: false, language: TextLanguage.lookup(request.languages)?.tag, now: transaction.now,
                policy: policy)
            let outcome = try texts.ask(
                .init(challenge: challenge, recipient: recipient, sending: 0, evidence: evidence), within: limits,
                dataKey: dataKey,
                names: names, in: transaction, &events)
            if outcome.isSent { challenge.isSent = true }
            try records.insert(
                .init(
                    challenge: challenge, numberIndex: indexes[0],
                    sealedNumber: try dataKey.seal(number.e164, in: .verificationNumber, of: id),
                    sealedPushEndpoint: try endpoint.map {
                        try dataKey.seal($0.arn, in: .verificationPushEndpoint, of: id)
                    }))
            if let presence { try spend(presence, of: session, in: transaction) }
            return StartedPhoneVerification(challenge, outcome: outcome, policy: policy)
        }
        context.development?.note(started.decision, number)
        return started
    }

    /// Verifies the presence proof and returns its nonce, which is not spent yet.
    private func presenceNonce(
        _ proof: String?, for number: PhoneNumber, _ session: Session, on connection: ClientConnection
    ) async throws -> Nonce? {
        guard let proof else {
            guard !context.policy[\.phones].presenceRequired else {
                throw Refusal.presenceProofRequired
            }
            return nil
        }
        let pem = try await context.read { try DeviceRepository($0).presenceKey(of: session.deviceID) }
        let verified = try PresenceProof(
            proof, for: number, key: try pem.map { pem throws(Refusal) in try VerificationKey(pem: pem) },
            clockSkew: context.policy[\.identityTokens].clockSkew, now: context.environment.now())
        do throws(Refusal) {
            return try Nonce(shown: verified.nonce, thumbprint: connection.thumbprint, key: context.keys.nonces)
        } catch {
            throw error.ofPresenceProof
        }
    }

    /// Whether a captcha was solved; `false` without one. It is asked about outside of transactions, and each is good
    /// once by the endpoint's rules.
    private func isSolved(_ captcha: String?) async throws -> Bool {
        guard let captcha else { return false }
        guard !context.policy[\.certification].captchaURL.isEmpty else {
            throw Refusal.captchaUnsupported
        }
        guard captcha.utf8.count <= 4096, try await verifyCaptcha(captcha) else {
            throw Refusal.textCaptchaRejected
        }
        return true
    }

    private func spend(_ nonce: Nonce, of session: Session, in transaction: any Transaction) throws {
        do {
            try NonceRepository(transaction).spend(nonce, of: session)
        } catch let refusal as Refusal {
            throw refusal.ofPresenceProof
        }
    }
}
