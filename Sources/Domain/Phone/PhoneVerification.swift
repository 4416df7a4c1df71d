import Encoding
import Foundation

extension PhoneVerification.State {
    /// What can happen to a verification.
    enum Event: String, Sendable, CaseIterable {
        case rightCode = "right_code"
        case wrongCode = "wrong_code"
        case lastWrongCode = "last_wrong_code"
        case resend
        case expire
    }

    /// The state after an event; `nil` if it is not allowed.
    func after(_ event: Event) -> PhoneVerification.State? {
        switch (self, event) {
        case (.open, .rightCode): .verified
        case (.open, .wrongCode), (.open, .resend): .open
        case (.open, .lastWrongCode): .usedUp
        case (.open, .expire), (.usedUp, .expire): .expired
        default: nil
        }
    }
}

/// One user's proof of a phone number on one device, without the number and without the code.
package struct PhoneVerification: Sendable, Equatable {
    /// Its id, known to the device that started it.
    package let id: PhoneVerificationID
    /// The user who proves the number; nobody else may check the code.
    package let userID: UserID
    /// The device that started it. No other device may check the code.
    package let deviceID: DeviceID
    /// The version of the key that the code is derived from.
    package let keyVersion: Int
    package let createdAt: Date
    /// When it expires; nothing extends it.
    package let expiresAt: Date
    /// The number of checks so far. Each is counted before the code is compared.
    package var checks: Int
    /// The number of resends so far.
    package var resends: Int
    /// When a text was last requested, whether or not one was sent.
    package var askedAt: Date
    /// Whether a text was written to the outbox. Without a text no code is right.
    package var isSent: Bool
    /// When the right code was submitted.
    package var verifiedAt: Date?
    /// The language tag of its texts; `nil` for the policy's default text.
    package let language: String?

    package init(
        id: PhoneVerificationID, userID: UserID, deviceID: DeviceID, keyVersion: Int, createdAt: Date, expiresAt: Date,
        checks: Int, resends: Int, askedAt: Date, isSent: Bool, verifiedAt: Date?, language: String? = nil
    ) {
        self.id = id
        self.userID = userID
        self.deviceID = deviceID
        self.keyVersion = keyVersion
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.checks = checks
        self.resends = resends
        self.askedAt = askedAt
        self.isSent = isSent
        self.verifiedAt = verifiedAt
        self.language = language
    }

    /// How long the right code may be submitted again after it proved the number, in seconds.
    static let repeatable: TimeInterval = 600
}

package extension PhoneVerification {
    /// The wrong codes that one user submitted in a row for one number, across verifications.
    struct FailureStreak: Sendable, Equatable {
        /// Wrong codes since the last right code or the last freeze.
        package var count: Int
        /// No code of this user for this number is accepted before this time.
        package var frozenUntil: Date?

        package init(count: Int = 0, frozenUntil: Date? = nil) {
            self.count = count
            self.frozenUntil = frozenUntil
        }
    }

    /// The state of a phone verification.
    enum State: String, Sendable, CaseIterable {
        /// Its code may be checked, and sent again.
        case open
        /// Every allowed check was used, always with a wrong code.
        case usedUp = "used_up"
        case expired
        /// The right code was submitted, once.
        case verified
    }

    /// Starts a verification at `now`.
    static func start(
        id: PhoneVerificationID, userID: UserID, deviceID: DeviceID, keyVersion: Int, isSent: Bool,
        language: String? = nil, now: Date, policy: PhonePolicy
    ) -> PhoneVerification {
        PhoneVerification(
            id: id, userID: userID, deviceID: deviceID, keyVersion: keyVersion, createdAt: now,
            expiresAt: now.addingTimeInterval(policy.lifetime), checks: 0, resends: 0, askedAt: now, isSent: isSent,
            verifiedAt: nil, language: language)
    }

    /// The state at `now`, which depends on the checks so far and on ``expiresAt``.
    func state(now: Date, policy: PhonePolicy) -> State {
        if verifiedAt != nil { return .verified }
        if now >= expiresAt { return .expired }
        return checks >= policy.checksPerVerification ? .usedUp : .open
    }

    /// The result of a check.
    enum CheckVerdict: String, Sendable {
        /// The code was compared, and it matches.
        case right
        /// The right code was submitted again after it proved the number, because the first response was lost.
        case repeated
        /// The code was compared, and it does not match.
        case wrong
        /// The code was not compared: the verification had ended before this check.
        case notCompared = "not_compared"
    }

    /// The result of a check, which ``checks`` already includes.
    ///
    /// - Parameter isRight: whether the code matches; evaluated only if the check may succeed.
    func verdict(isRight: Bool, now: Date, policy: PhonePolicy) -> CheckVerdict {
        var before = self
        before.checks -= 1
        let event: State.Event =
            isRight && isSent
            ? .rightCode : checks < policy.checksPerVerification ? .wrongCode : .lastWrongCode
        switch before.state(now: now, policy: policy).after(event) {
        case nil: return .notCompared
        case .verified: return .right
        default: return .wrong
        }
    }

    /// Whether a check, which ``checks`` already includes, may repeat the one that proved the number. As many
    /// repetitions are allowed as checks were allowed before.
    func mayRepeat(now: Date, policy: PhonePolicy) -> Bool {
        guard let verifiedAt else { return false }
        let end = verifiedAt.addingTimeInterval(Self.repeatable)
        return verifiedAt <= now && now < end && checks <= 2 * policy.checksPerVerification
    }

    /// When the code may next be sent again; `nil` if it may not.
    func resendAfter(policy: PhonePolicy) -> Date? {
        guard resends < policy.resendAfter.count, verifiedAt == nil, checks < policy.checksPerVerification else {
            return nil
        }
        let moment = askedAt.addingTimeInterval(policy.resendAfter[resends])
        return moment < expiresAt ? moment : nil
    }

    /// Refuses a resend that is too early, beyond the limit, or for a verification that has ended.
    ///
    /// - Throws: ``Refusal`` `rate_limited` with the wait, `conflict` with the state.
    func requireResendable(now: Date, policy: PhonePolicy) throws(Refusal) {
        let state = state(now: now, policy: policy)
        guard state.after(.resend) != nil else {
            throw Refusal.verificationIsOver(state: state.rawValue)
        }
        guard let moment = resendAfter(policy: policy) else {
            throw Refusal.resendsExhausted
        }
        let wait = Int(saturating: moment.timeIntervalSince(now).rounded(.up))
        guard wait <= 0 else {
            throw Refusal.resendTooSoon(retryAfter: wait)
        }
    }
}

package extension PhoneVerification.FailureStreak {
    /// Whether codes are frozen at `now`.
    func isFrozen(now: Date) -> Bool {
        frozenUntil.map { now < $0 } ?? false
    }

    /// Counts a wrong code; `true` if this one starts the freeze.
    mutating func countFailure(now: Date, policy: PhonePolicy) -> Bool {
        count += 1
        guard count >= policy.failuresBeforeFreeze else { return false }
        self = PhoneVerification.FailureStreak(count: 0, frozenUntil: now.addingTimeInterval(policy.freeze))
        return true
    }
}
