import Database
import Domain
import Foundation
import PhoneNumbers
import Repositories

package extension Service {
    /// Sends the code of an open verification again. The code, the checks used and the expiry stay the same.
    ///
    /// - Parameter address: the limit's key for the sender's address.
    /// - Throws: `Refusal` `not_found` if it is not this user's on this device, `rate_limited` if it is too early or
    ///   too often, `conflict` with the state if the verification has ended, `unavailable`.
    func resendPhoneCode(
        _ text: String, for session: Session, address: String
    ) async throws -> StartedPhoneVerification {
        let (policy, keys) = (policy[\.phones], keys.personal)
        guard let id = PhoneVerificationID(text[...]) else { throw Refusal.unknownVerification }
        let names = PhoneText.Names(environment)
        let (started, number) = try await act(for: session, inTurn: .texts) {
            transaction, _, events -> (StartedPhoneVerification, PhoneNumber) in
            let records = PhoneVerificationRepository(transaction)
            guard let entry = try records.find(id), entry.challenge.userID == session.userID,
                entry.challenge.deviceID == session.deviceID,
                let dataKey = try DataKeyRepository(transaction, keys: keys).find(session.userID)
            else { throw Refusal.unknownVerification }
            var challenge = entry.challenge
            try challenge.requireResendable(now: transaction.now, policy: policy)
            let e164 = try dataKey.open(entry.sealedNumber, in: .verificationNumber, of: id)
            guard let number = PhoneNumber(canonical: e164) else { throw SealingFailure.notAuthentic }
            let recipient = PhoneText.Recipient(userID: session.userID, number: number, address: address)
            let limits = try textLimits(for: recipient, in: transaction)
            challenge.resends += 1
            challenge.askedAt = transaction.now
            let outcome = try askForText(
                .init(challenge: challenge, recipient: recipient, sending: challenge.resends), within: limits,
                dataKey: dataKey, names: names, in: transaction, &events)
            if outcome.isSent { challenge.isSent = true }
            guard try records.recordResend(challenge) else {
                throw Refusal.resentElsewhere
            }
            return (StartedPhoneVerification(challenge, outcome: outcome, policy: policy), number)
        }
        development?.note(started.decision, number)
        return started
    }
}
