import Encoding
import Foundation

/// What a verification of a phone number is at a moment.
package enum PhoneVerificationState: String, Sendable, CaseIterable {
    /// Its code may be tried and sent again.
    case open
    /// Every check was spent on wrong codes.
    case usedUp = "used_up"
    case expired
    /// The right code was shown, once.
    case verified

    /// What may happen to a verification.
    package enum Event: String, Sendable, CaseIterable {
        case rightCode = "right_code"
        case wrongCode = "wrong_code"
        case lastWrongCode = "last_wrong_code"
        case resend
        case expire
    }

    /// The state after an event; `nil` if it is not allowed.
    package func after(_ event: Event) -> PhoneVerificationState? {
        switch (self, event) {
        case (.open, .rightCode): .verified
        case (.open, .wrongCode), (.open, .resend): .open
        case (.open, .lastWrongCode): .usedUp
        case (.open, .expire), (.usedUp, .expire): .expired
        default: nil
        }
    }
}

/// One proof of a phone number by a user on a device, without the number and without the code.
package struct PhoneVerification: Sendable, Equatable {
    /// Its name, known to the device that asked.
    package let id: PhoneVerificationID
    /// Who proves; nobody else may check it.
    package let userID: UserID
    /// On which device; no other may check it.
    package let deviceID: DeviceID
    /// The version of the key that its code is derived under.
    package let keyVersion: Int
    package let createdAt: Date
    /// When it ends; nothing extends it.
    package let expiresAt: Date
    /// How many codes were shown, each counted before it is compared.
    package var checks: Int
    /// How often the code was asked for again.
    package var resends: Int
    /// When a text was last asked for. Whether one went out is not to be seen here.
    package var askedAt: Date
    /// Whether any text went into the outbox: without one no code is right.
    package var isSent: Bool
    /// When the right code was shown.
    package var verifiedAt: Date?

    /// Joins the parts, as read from a row or decided at the start.
    package init(
        id: PhoneVerificationID, userID: UserID, deviceID: DeviceID, keyVersion: Int, createdAt: Date, expiresAt: Date,
        checks: Int, resends: Int, askedAt: Date, isSent: Bool, verifiedAt: Date?
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
    }

    /// Begins one at a moment.
    package static func start(
        id: PhoneVerificationID, userID: UserID, deviceID: DeviceID, keyVersion: Int, isSent: Bool, now: Date,
        policy: PhonePolicy
    ) -> PhoneVerification {
        PhoneVerification(
            id: id, userID: userID, deviceID: deviceID, keyVersion: keyVersion, createdAt: now,
            expiresAt: now.addingTimeInterval(policy.lifetime), checks: 0, resends: 0, askedAt: now, isSent: isSent,
            verifiedAt: nil)
    }

    /// What it is at a moment.
    package func state(now: Date, policy: PhonePolicy) -> PhoneVerificationState {
        if verifiedAt != nil { return .verified }
        if now >= expiresAt { return .expired }
        return checks >= policy.checksPerVerification ? .usedUp : .open
    }

    /// What a check comes to.
    package enum CheckVerdict: String, Sendable {
        /// The code was compared, and it is the one.
        case right
        /// The code was compared, and it is not the one.
        case wrong
        /// The code was not compared: the verification was over before this check.
        case notCompared = "not_compared"
    }

    /// Evaluates a check that ``checks`` counts already.
    ///
    /// - Parameter isRight: whether the code is the one; looked at only if the check may succeed.
    package func verdict(isRight: Bool, now: Date, policy: PhonePolicy) -> CheckVerdict {
        var before = self
        before.checks -= 1
        let event: PhoneVerificationState.Event =
            isRight && isSent
            ? .rightCode : checks < policy.checksPerVerification ? .wrongCode : .lastWrongCode
        switch before.state(now: now, policy: policy).after(event) {
        case nil: return .notCompared
        case .verified: return .right
        default: return .wrong
        }
    }

    /// From when on the code may be sent again; `nil` if it may no more.
    package func resendAfter(policy: PhonePolicy) -> Date? {
        guard resends < policy.resendAfter.count, verifiedAt == nil, checks < policy.checksPerVerification else {
            return nil
        }
        let moment = askedAt.addingTimeInterval(policy.resendAfter[resends])
        return moment < expiresAt ? moment : nil
    }

    /// Refuses a resend that is too early, one too many, or of no more use.
    ///
    /// - Throws: ``Refusal`` `rate_limited` with the wait, `conflict` with the state.
    package func requireResendable(now: Date, policy: PhonePolicy) throws(Refusal) {
        let state = state(now: now, policy: policy)
        guard state.after(.resend) != nil else {
            throw Refusal(.conflict, "The verification is over: start another.", state: state.rawValue)
        }
        guard let moment = resendAfter(policy: policy) else {
            throw Refusal(
                .conflict, "The code was sent as often as it may be: start another verification later.",
                state: "no_more_resends")
        }
        let wait = Int(saturating: moment.timeIntervalSince(now).rounded(.up))
        guard wait <= 0 else {
            throw Refusal(.rateLimited, "The code may be sent again in \(wait) s.", retryAfter: wait)
        }
    }
}

/// The wrong codes that one user showed in a row for one number, across verifications.
package struct FailureStreak: Sendable, Equatable {
    /// How many, since the last right code or the last freeze.
    package var count: Int
    /// Until when no code of this user for this number is accepted.
    package var frozenUntil: Date?

    package init(count: Int = 0, frozenUntil: Date? = nil) {
        self.count = count
        self.frozenUntil = frozenUntil
    }

    /// Whether no code is accepted at a moment.
    package func isFrozen(now: Date) -> Bool {
        frozenUntil.map { now < $0 } ?? false
    }

    /// Counts a wrong code; `true` if it is the one that freezes.
    package mutating func countFailure(now: Date, policy: PhonePolicy) -> Bool {
        count += 1
        guard count >= policy.failuresBeforeFreeze else { return false }
        self = FailureStreak(count: 0, frozenUntil: now.addingTimeInterval(policy.freeze))
        return true
    }
}
