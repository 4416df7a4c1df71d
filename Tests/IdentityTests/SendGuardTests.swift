import Foundation
import Testing

@testable import Identity

@Suite("The guard before the texts")
struct SendGuardTests {
    private func number(
        _ e164: String = "+14155552671", region: String = "US", type: PhoneNumberType = .fixedLineOrMobile
    ) -> PhoneNumber {
        PhoneNumber(e164: e164, countryCallingCode: 1, region: region, type: type)
    }

    private func decide(
        _ number: PhoneNumber? = nil, isFrozen: Bool = false, limits: Bool = true,
        _ edit: (inout SendCounts) -> Void = { _ in }
    ) -> SendDecision {
        var counts = SendCounts()
        edit(&counts)
        let attempt = SendAttempt(number: number ?? self.number(), isOwner: false, isFrozen: isFrozen)
        return SendGuard(policy: PhonePolicy(), limitsRates: limits).decide(attempt, counts)
    }

    @Test("lets a first text to an allowed number out")
    func first() {
        #expect(decide() == .send(bearsOnCountry: true))
    }

    @Test("withholds, whether or not limits are on, what rules forbid")
    func rules() {
        for limits in [true, false] {
            #expect(decide(number(region: "LV"), limits: limits) == .withhold(.country, stop: nil))
            for type in [PhoneNumberType.premiumRate, .tollFree, .voip] {
                #expect(decide(number(type: type), limits: limits) == .withhold(.type, stop: nil))
            }
            #expect(decide(isFrozen: true, limits: limits) == .withhold(.frozen, stop: nil))
        }
    }

    @Test("withholds at each limit exactly")
    func limits() {
        let send = SendDecision.send(bearsOnCountry: true)
        #expect(decide { $0.numberLastHour = 4 } == send)
        #expect(decide { $0.numberLastHour = 5 } == .withhold(.numberLimit, stop: nil))
        #expect(decide { $0.numberLastDay = 9 } == send)
        #expect(decide { $0.numberLastDay = 10 } == .withhold(.numberLimit, stop: nil))
        #expect(decide { $0.isPrefixStopped = true } == .withhold(.prefixStopped, stop: nil))
        #expect(decide { $0.isCountryStopped = true } == .withhold(.countryStopped, stop: nil))
        #expect(decide { $0.spentToday = 99_992 } == send)
        #expect(decide { $0.spentToday = 99_993 } == .withhold(.spendCeiling, stop: nil))
        let few = SendDecision.send(bearsOnCountry: false)
        #expect(decide { $0.prefixLastHour = Conversion(sends: 9) } == few)
        #expect(decide { $0.prefixLastHour = Conversion(sends: 10) } == .withhold(.prefixLimit, stop: nil))
        #expect(decide { $0.prefixLastHour = Conversion(sends: 19, verified: 5) } == few)
        #expect(decide { $0.prefixLastHour = Conversion(sends: 20, verified: 5) } == .withhold(.prefixLimit, stop: nil))
        #expect(decide { $0.prefixLastDay = Conversion(sends: 20) } == .withhold(.prefixLimit, stop: nil))
        #expect(
            decide { $0.prefixLastHour = Conversion(sends: 100, verified: 100) } == .withhold(.prefixLimit, stop: nil))
    }

    @Test("trips the breaker from 50 texts in an hour on with less than 15 of a hundred verified")
    func breaker() {
        let trip = SendDecision.withhold(.countryStopped, stop: .country)
        #expect(decide { $0.country = Conversion(sends: 49) } == .send(bearsOnCountry: true))
        #expect(decide { $0.country = Conversion(sends: 50, verified: 7) } == trip)
        #expect(decide { $0.country = Conversion(sends: 50, verified: 8) } == .send(bearsOnCountry: true))
        #expect(decide { $0.country = Conversion(sends: 1000, verified: 149) } == trip)
        #expect(decide { $0.country = Conversion(sends: 1000, verified: 150) } == .send(bearsOnCountry: true))
        #expect(
            decide { $0.prefixLastHour = Conversion(sends: 50, verified: 7) }
                == .withhold(.prefixStopped, stop: .prefix))
    }

    @Test("lets everything but rules pass where limits are off")
    func limitsOff() {
        let decision = decide(limits: false) {
            $0.numberLastHour = 1000
            $0.prefixLastHour = Conversion(sends: 1000)
            $0.country = Conversion(sends: 1000)
            $0.isCountryStopped = true
            $0.spentToday = 1_000_000
        }
        #expect(decision == .send(bearsOnCountry: true))
    }

    @Test("tells a user openly of the user's own limits, and gives a number's owner a budget of the owner's")
    func userLimits() throws {
        let rule = SendGuard(policy: PhonePolicy(), limitsRates: true)
        let stranger = SendAttempt(number: number(), isOwner: false, isFrozen: false)
        let owner = SendAttempt(number: number(), isOwner: true, isFrozen: false)
        var counts = SendCounts()
        counts.askedByUserToday = 2
        try rule.requireWithinUserLimits(stranger, counts)
        counts.askedByUserToday = 3
        #expect(throws: Refusal(.rateLimited, "")) { try rule.requireWithinUserLimits(stranger, counts) }
        counts.askedByUserToday = 9
        try rule.requireWithinUserLimits(owner, counts)
        counts = SendCounts()
        counts.otherNumbersOfUser = 4
        try rule.requireWithinUserLimits(stranger, counts)
        counts.otherNumbersOfUser = 5
        #expect(throws: Refusal(.rateLimited, "")) { try rule.requireWithinUserLimits(stranger, counts) }
        try SendGuard(policy: PhonePolicy(), limitsRates: false).requireWithinUserLimits(stranger, counts)
    }

    @Test("An attack on ever new prefixes wastes 50 texts an hour and country, and no more")
    func scattered() {
        var ledger = SendLedger(policy: PhonePolicy())
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        var sent = [0, 0]
        for attempt in 0..<20_000 {
            let e164 = "+1\(2_000_000_000 + attempt * 10_000)"
            let hour = attempt / 10_000
            let now = start + Double(attempt % 10_000) * 0.3 + Double(hour) * 4000
            if ledger.ask(user: "u\(attempt)", address: "a\(attempt)", number: number(e164), now: now) == .sent {
                sent[hour] += 1
            }
        }
        #expect(sent == [50, 50])
        #expect(ledger.stops == 2)
    }
}

@Suite("Retries and push endpoints")
struct DeliveryRuleTests {
    @Test("A message is tried five times, 2 to 60 seconds apart")
    func retries() {
        let waits = (1...5).map { RetryRule.outbox.wait(afterTries: $0) }
        #expect(waits == [2, 6, 18, 54, nil])
        let longer = RetryRule(tries: 9, firstWait: 2, longestWait: 60, factor: 3)
        #expect(longer.wait(afterTries: 8) == 60)
    }

    @Test("Only endpoints of named applications are taken")
    func endpoints() throws {
        let application = "arn:aws:sns:us-east-1:123456789012:app/APNS/countersign"
        #expect(PushEndpoint.isApplication(application))
        let endpoint = "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/countersign/7f-1"
        #expect(try PushEndpoint(endpoint, of: [application]).arn == endpoint)
        let others = [
            "arn:aws:sns:us-east-1:123456789013:endpoint/APNS/countersign/7f-1",
            "arn:aws:sns:eu-west-1:123456789012:endpoint/APNS/countersign/7f-1",
            "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/countersign2/7f-1",
            "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/countersign/", application, "",
            "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/countersign/a/b", "https://example.com/",
        ]
        for arn in others {
            #expect(throws: Refusal(.malformedRequest, "")) { try PushEndpoint(arn, of: [application]) }
        }
        #expect(throws: Refusal(.malformedRequest, "")) { try PushEndpoint(endpoint, of: []) }
        for text in ["", "arn", endpoint, "arn:aws:sqs:us-east-1:123456789012:app/APNS/x"] {
            #expect(!PushEndpoint.isApplication(text))
        }
    }
}
