import Database
import Delivery
import Domain
import Foundation
import PhoneNumbers
import Repositories
import Tokens

package extension Service {
    /// A verification as its device sees it.
    struct StartedPhoneVerification: Sendable {
        package let id: PhoneVerificationID
        package let expiresAt: Date
        /// When the code may next be sent again; `nil` if it may not.
        package let resendAfter: Date?
        /// The number of digits of the code.
        package let digits: Int
        /// The guard's decision, for the metrics alone; `nil` if no text was requested.
        package let decision: SendGuard.Decision?
        /// The name of the scope that the breaker limits from now on, for the log; `nil` if there is none.
        package let thinned: String?

        init(_ challenge: PhoneVerification, outcome: PhoneText.Outcome?, policy: PhonePolicy) {
            id = challenge.id
            expiresAt = challenge.expiresAt
            resendAfter = challenge.resendAfter(policy: policy)
            digits = policy.digits
            decision = outcome?.decision
            thinned = outcome?.thinned
        }
    }

    /// An app's request to verify a number.
    struct PhoneVerificationRequest: Sendable, Confidential {
        /// E.164, or a national form with ``region``.
        let phoneNumber: String
        /// The region of a national form, ISO 3166-1 alpha-2.
        let region: String?
        /// The ARN of the push endpoint to store with the number.
        let pushEndpoint: String?
        /// The presence proof, a compact JWS.
        let presence: String?
        /// The response of a solved captcha.
        let captcha: String?
        let languages: LanguagePreferences
        /// The limit's key for the sender's address.
        let address: String

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

    /// Starts a verification, or returns the open verification of the same number on this device. The response is the
    /// same for every well-formed number. Only the holder of the number learns whether a text was sent.
    ///
    /// - Parameter verifyCaptcha: asks the siteverify endpoint about a captcha's response.
    /// - Throws: `Refusal` `malformed_request`, `invalid_presence_proof`, `unavailable`, `conflict` for a device without an
    ///   attested key if policy requires one, or `rate_limited` if the user's own address or account exceeds a limit.
    func startPhoneVerification(
        _ request: PhoneVerificationRequest, for session: Session, on connection: ClientConnection,
        verifyCaptcha: (String) async throws -> Bool
    ) async throws -> StartedPhoneVerification {
        let policy = policy[\.phones]
        let (codes, keys) = (keys.phoneCodes, keys.personal)
        let number = try PhoneNumber(fromCaller: request.phoneNumber, region: request.region)
        let endpoint = try request.pushEndpoint.map { arn throws(Refusal) in
            try PushEndpoint(arn, of: policy.pushApplications)
        }
        let presence = try await presenceNonce(request.presence, for: number, session, on: connection)
        let evidence: SendGuard.Evidence? =
            if try await isSolved(request.captcha, verifyCaptcha) { .captcha } else if presence != nil {
                .presence
            } else { nil }
        let names = PhoneText.Names(environment)
        let id: PhoneVerificationID = environment.newIdentifier()

        let recipient = PhoneText.Recipient(userID: session.userID, number: number, address: request.address)
        let indexes = keys.phoneIndexes(number.e164)
        let findLive = { @Sendable (transaction: any Transaction) in
            try PhoneVerificationRepository(transaction).findUnexpired(
                userID: session.userID, deviceID: session.deviceID, numberIndexes: indexes)
        }
        let lookAhead: SessionHolder.Ahead = { try lookAheadForText(recipient, in: $0) }
        let started = try await act(for: session, inTurn: .texts, ahead: lookAhead) {
            transaction, _, events -> StartedPhoneVerification in
            // All is read before anything is written.
            let limits = try textLimits(for: recipient, in: transaction) { _ = try findLive($0) }
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
            let outcome = try askForText(
                .init(
                    challenge: challenge, thumbprint: session.thumbprint, recipient: recipient, sending: 0,
                    evidence: evidence), within: limits, dataKey: dataKey, names: names, in: transaction, &events)
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
        development?.note(started.decision, number)
        return started
    }

    /// Verifies the presence proof and returns its nonce, which is not spent yet.
    private func presenceNonce(
        _ proof: String?, for number: PhoneNumber, _ session: Session, on connection: ClientConnection
    ) async throws -> Nonce? {
        guard let proof else {
            guard !policy[\.phones].presenceRequired else {
                throw Refusal.presenceProofRequired
            }
            return nil
        }
        let pem = try await read { try DeviceRepository($0).presenceKey(of: session.deviceID) }
        let verified = try PresenceProof(
            proof, for: number, key: try pem.map { pem throws(Refusal) in try VerificationKey(pem: pem) },
            clockSkew: policy[\.identityTokens].clockSkew, now: environment.now())
        do throws(Refusal) {
            return try Nonce(shown: verified.nonce, thumbprint: connection.thumbprint, key: keys.nonces)
        } catch {
            throw error.ofPresenceProof
        }
    }

    /// Whether a captcha was solved; `false` without one. The endpoint is queried outside of transactions, and it
    /// accepts each response once.
    private func isSolved(
        _ captcha: String?, _ verifyCaptcha: (String) async throws -> Bool
    ) async throws -> Bool {
        guard let captcha else { return false }
        guard !policy[\.certification].captchaURL.isEmpty else {
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
