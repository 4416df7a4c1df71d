import Database
import Domain
import Foundation
import PhoneNumbers
import Repositories

package extension Service {
    /// The result of a check, for the metrics. The caller only learns whether the code was right.
    struct CheckedPhoneVerification: Sendable {
        /// Right, repeated, wrong, or not compared.
        package let verdict: PhoneVerification.CheckVerdict
        /// The user's level after the check.
        package let assurance: Assurance
        /// Whether the number is banned. Only a caller with the right code learns that.
        let isBanned: Bool

        /// Refuses every result but "right" in the same way, and after a right code a banned number. The reason of the
        /// ban is withheld, because the number may have a new holder.
        ///
        /// - Throws: `Refusal` `verification_failed` or `user_banned`.
        package func requireRight() throws(Refusal) {
            guard verdict == .right || verdict == .repeated else {
                throw Refusal.wrongCode
            }
            guard !isBanned else {
                throw Refusal.numberBanned
            }
        }
    }

    /// Checks a code that a user typed. Wrong, expired, used up and unknown codes give the same response after the same
    /// work: a changed row, an opened number, a derived code, a comparison. A repeated right code gives the same
    /// response for a while, because the first response may have been lost.
    ///
    /// The attempt is counted before the comparison, and the count stays whatever the result. Both are in one
    /// transaction, which commits before the response.
    ///
    /// - Throws: `Refusal` `unavailable`. A wrong code is an outcome; ``Service/CheckedPhoneVerification/requireRight()``
    ///   refuses it.
    func checkPhoneVerification(
        _ text: String, code: String, for session: Session
    ) async throws -> CheckedPhoneVerification {
        let policy = policy[\.phones]
        let (codes, keys) = (keys.phoneCodes, keys.personal)
        let code = PhoneCode.Submitted(code)
        let id = PhoneVerificationID(text[...]) ?? environment.newIdentifier()
        let bans = BanSubjectIndex(keys: keys)
        return try await act(for: session, inTurn: .texts) { transaction, _, events -> CheckedPhoneVerification in
            let entry = try PhoneVerificationRepository(transaction).countCheck(
                id, userID: session.userID, deviceID: session.deviceID)
            let dataKey = try DataKeyRepository(transaction, keys: keys).find(session.userID)
            let index = entry?.numberIndex ?? PhoneFailureRepository.noNumber
            let failures = PhoneFailureRepository(transaction)
            var streak = try failures.find(userID: session.userID, numberIndexes: [index])
            let e164 = try entry.flatMap { entry in
                try dataKey?.open(entry.sealedNumber, in: .verificationNumber, of: id)
            }
            let isRight =
                phoneCode(
                    version: entry?.challenge.keyVersion ?? codes.currentVersion, verification: id,
                    user: session.userID, device: session.deviceID, e164: e164 ?? "")?
                .matches(code) ?? false
            let verdict =
                e164 == nil || streak.isFrozen(now: transaction.now)
                ? .notCompared
                : entry?.challenge.verdict(isRight: isRight, now: transaction.now, policy: policy) ?? .notCompared
            if verdict == .notCompared, isRight, let entry, let e164, !streak.isFrozen(now: transaction.now),
                entry.challenge.mayRepeat(now: transaction.now, policy: policy)
            {
                return try repeated(e164, bans, for: session, in: transaction)
            }
            if verdict == .right { streak = PhoneVerification.FailureStreak() }
            if verdict == .wrong, streak.countFailure(now: transaction.now, policy: policy) {
                events.record(.phoneFrozen(session.userID), by: "device \(session.deviceID)")
            }
            try failures.save(streak, userID: session.userID, numberIndex: index)
            guard verdict == .right, let entry, let dataKey, let e164 else {
                return CheckedPhoneVerification(verdict: verdict, assurance: .none, isBanned: false)
            }
            try PhoneSendRepository(transaction).recordVerified(id)
            try RepeatedRequestRepository(transaction).giveBackPlaces(of: session.deviceID)
            try PhoneVerificationRepository(transaction).recordVerified(id, at: transaction.now)
            if let entry = try bans.activeBan(on: .phone(e164), in: transaction) {
                events.record(
                    .banEvaded(session.userID, entry.ban.id, by: .phone), by: "device \(session.deviceID)")
                return CheckedPhoneVerification(verdict: .right, assurance: .none, isBanned: true)
            }
            let assurance = try prove(entry, e164: e164, dataKey: dataKey, for: session, in: transaction, &events)
            try bans.extendMessagingBan(to: session.userID, whoProved: .phone(e164), in: transaction)
            events.record(.phoneVerified(session.userID), by: "device \(session.deviceID)")
            return CheckedPhoneVerification(verdict: .right, assurance: assurance, isBanned: false)
        }
    }

    /// The outcome of a right code that already proved the number, as it is now. Since then the level may have changed,
    /// another user may have proved the number, or it may have been banned. Nothing is changed or recorded.
    private func repeated(
        _ e164: String, _ bans: BanSubjectIndex, for session: Session, in transaction: any Transaction
    ) throws -> CheckedPhoneVerification {
        if try bans.activeBan(on: .phone(e164), in: transaction) != nil {
            return CheckedPhoneVerification(verdict: .repeated, assurance: .none, isBanned: true)
        }
        let keys = keys.personal
        let isHolder = try AuthenticatedUserRepository(transaction, keys: keys)
            .isHolder(session.userID, ofNumber: keys.phoneIndexes(e164))
        guard isHolder, let user = try UserRepository(transaction).find(session.userID) else {
            return CheckedPhoneVerification(verdict: .notCompared, assurance: .none, isBanned: false)
        }
        return CheckedPhoneVerification(verdict: .repeated, assurance: user.assurance, isBanned: false)
    }

    /// Stores the number as the user's.
    private func prove(
        _ entry: PhoneVerificationRepository.Entry, e164: String, dataKey: DataKey, for session: Session,
        in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> Assurance {
        let endpoint = try entry.sealedPushEndpoint.map {
            try dataKey.open($0, in: .verificationPushEndpoint, of: entry.challenge.id)
        }
        let users = UserRepository(transaction)
        guard let user = try users.find(session.userID) else { return .none }
        let keys = keys.personal
        let authenticated = AuthenticatedUserRepository(transaction, keys: keys)
        let isSame = try authenticated.isHolder(user.id, ofNumber: keys.phoneIndexes(e164))
        let proven = try authenticated.phoneProven(user, e164, at: transaction.now)
        // Findability belongs to the pair of number and holder. Neither a new holder nor a new number inherits it.
        for former in proven.losers + (isSame ? [] : [user.id]) {
            try FindableAddressRepository(transaction).delete(.phone, of: former)
        }
        if let endpoint {
            let change = PushEndpointChange(usual: .some(endpoint))
            try register(change, by: session, in: transaction, &events)
        }
        for change in proven.changes { events.record(.assuranceChanged(change)) }
        for loser in proven.losers { events.record(.phoneReassigned(from: loser), by: "user \(session.userID)") }
        return try users.find(session.userID)?.assurance ?? .phone
    }

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
                .init(
                    challenge: challenge, thumbprint: session.thumbprint, recipient: recipient,
                    sending: challenge.resends), within: limits, dataKey: dataKey, names: names, in: transaction,
                &events)
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
