import Database
import Domain
import Foundation
import PhoneNumbers
import Repositories

/// Sends the code of an open verification again: the same code, with the checks that were used and the end that was set.
package struct ResendPhoneCode: Sendable {
    private let store: SessionStore
    private let keys: PersonalKeys
    private let texts: PhoneTexts
    private let outbox: OutboxSignal
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Sends codes of a store again.
    ///
    /// - Parameter outbox: rung when a message was written.
    package init(
        store: any Database, keys: PersonalKeys, outbox: OutboxSignal, policy: CurrentPolicy,
        rateLimiting: RateLimiting, environment: Environment
    ) {
        self.store = SessionStore(store)
        self.keys = keys
        self.outbox = outbox
        self.policy = policy
        self.environment = environment
        texts = PhoneTexts(keys: keys, policy: policy, rateLimiting: rateLimiting, environment: environment)
    }

    /// Sends it again.
    ///
    /// - Parameter address: the limit's key for the sender's address.
    /// - Throws: `Refusal` `not_found` for what is not this user's on this device, `rate_limited` where it is too
    ///   early or too often, `conflict` with the state where it is over, `unavailable`.
    package func callAsFunction(
        _ text: String, for session: Session, address: String
    ) async throws -> StartedPhoneVerification {
        let policy = policy[\.phones]
        guard let id = PhoneVerificationID(text[...]) else { throw Self.unknown }
        let names = PhoneTexts.Names(environment)
        let resent = try await store.act(for: session) { transaction, _ -> StartedPhoneVerification in
            let records = PhoneVerificationRepository(transaction)
            guard let entry = try records.find(id), entry.challenge.userID == session.userID,
                entry.challenge.deviceID == session.deviceID,
                let dataKey = try DataKeyRepository(transaction, keys: keys).find(session.userID)
            else { throw Self.unknown }
            var challenge = entry.challenge
            try challenge.requireResendable(now: transaction.now, policy: policy)
            let e164 = try dataKey.open(entry.sealedNumber, in: .verificationNumber, of: id)
            guard let number = PhoneNumber(canonical: e164) else { throw SealingFailure.notAuthentic }
            challenge.resends += 1
            challenge.askedAt = transaction.now
            let outcome = try texts.ask(
                .init(
                    challenge: challenge, number: number, sending: challenge.resends, address: address),
                dataKey: dataKey, names: names, in: transaction)
            if outcome.isSent { challenge.isSent = true }
            guard try records.recordResend(challenge) else {
                throw Refusal(.rateLimited, "The code was sent again at this very moment.", retryAfter: 1)
            }
            return StartedPhoneVerification(challenge, outcome: outcome, policy: policy)
        }
        outbox.ring()
        return resent
    }

    private static let unknown = Refusal(.notFound, "There is no such verification of this user on this device.")
}
