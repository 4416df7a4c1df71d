import Foundation
import Testing

@testable import Domain

@Suite("A verification of a phone number")
struct PhoneVerificationValueTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let policy = PhonePolicy()

    private func challenge(isSent: Bool = true) -> PhoneVerification {
        .start(
            id: PhoneVerificationID(UUID()), userID: UserID(UUID()), deviceID: DeviceID(UUID()), keyVersion: 1,
            isSent: isSent, now: start, policy: policy)
    }

    @Test("moves as the table says, and in no other way")
    func table() {
        let allowed: [(PhoneVerification.State, PhoneVerification.State.Event, PhoneVerification.State)] = [
            (.open, .rightCode, .verified), (.open, .wrongCode, .open), (.open, .lastWrongCode, .usedUp),
            (.open, .resend, .open), (.open, .expire, .expired), (.usedUp, .expire, .expired),
        ]
        for state in PhoneVerification.State.allCases {
            for event in PhoneVerification.State.Event.allCases {
                let expected = allowed.first { $0.0 == state && $0.1 == event }?.2
                #expect(state.after(event) == expected, "\(state) on \(event)")
            }
        }
    }

    @Test("compares five codes and no sixth, whichever of them is right", arguments: 1...7)
    func checks(rightOne: Int) {
        var challenge = challenge()
        var verdicts: [PhoneVerification.CheckVerdict] = []
        for number in 1...7 {
            challenge.checks += 1
            let verdict = challenge.verdict(isRight: number == rightOne, now: start, policy: policy)
            if verdict == .right { challenge.verifiedAt = start }
            verdicts.append(verdict)
        }
        let expected: [PhoneVerification.CheckVerdict] = (1...7).map { number in
            number > min(5, rightOne) ? .notCompared : number == rightOne ? .right : .wrong
        }
        #expect(verdicts == expected)
    }

    @Test("ends after five minutes to the moment, and a resend changes nothing of that")
    func expiry() {
        var challenge = challenge()
        challenge.resends = 2
        challenge.askedAt = start + 100
        challenge.checks = 1
        #expect(challenge.verdict(isRight: true, now: start + 299.999, policy: policy) == .right)
        #expect(challenge.verdict(isRight: true, now: start + 300, policy: policy) == .notCompared)
        #expect(challenge.state(now: start + 300, policy: policy) == .expired)
    }

    @Test("without a text that was sent takes no code for right")
    func unsent() {
        var challenge = challenge(isSent: false)
        challenge.checks = 1
        #expect(challenge.verdict(isRight: true, now: start, policy: policy) == .wrong)
    }

    @Test("may be sent again after 30, then 60, then 120 seconds, and no fourth time")
    func resends() throws {
        var challenge = challenge()
        var now = start
        for wait in [30.0, 60, 120] {
            let early = Refusal(.rateLimited, "")
            #expect(challenge.resendAfter(policy: policy) == now + wait)
            #expect(throws: early) { try challenge.requireResendable(now: now + wait - 1, policy: policy) }
            now += wait
            try challenge.requireResendable(now: now, policy: policy)
            challenge.resends += 1
            challenge.askedAt = now
        }
        let over = #expect(throws: Refusal.self) {
            try challenge.requireResendable(now: now + 60, policy: policy)
        }
        #expect(over?.code == .conflict)
        #expect(over?.state == "no_more_resends")
    }

    @Test("is not sent again once it is verified, used up or expired")
    func resendsAfterTheEnd() {
        var verified = challenge()
        verified.verifiedAt = start
        var usedUp = challenge()
        usedUp.checks = 5
        for (challenge, now, state) in [
            (verified, start + 31, "verified"), (usedUp, start + 31, "used_up"), (challenge(), start + 300, "expired"),
        ] {
            let refusal = #expect(throws: Refusal.self) { try challenge.requireResendable(now: now, policy: policy) }
            #expect(refusal?.code == .conflict)
            #expect(refusal?.state == state)
        }
    }

    @Test("Twenty wrong codes in a row freeze for a day, and the row begins anew after it")
    func freeze() {
        var streak = PhoneVerification.FailureStreak()
        for _ in 1...19 {
            let froze = streak.countFailure(now: start, policy: policy)
            #expect(!froze)
        }
        #expect(!streak.isFrozen(now: start))
        let froze = streak.countFailure(now: start, policy: policy)
        #expect(froze)
        #expect(streak.isFrozen(now: start + 86_399))
        #expect(!streak.isFrozen(now: start + 86_400))
        #expect(streak.count == 0)
    }
}
