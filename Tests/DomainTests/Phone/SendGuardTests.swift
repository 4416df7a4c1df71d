import Foundation
import Testing

@testable import Domain
@testable import PhoneNumbers

@Suite("The guard before the texts")
struct SendGuardTests {
    private func number(
        _ e164: String = "+14155552671", region: String = "US", type: PhoneNumber.NumberType = .fixedLineOrMobile
    ) -> PhoneNumber {
        PhoneNumber(e164: e164, countryCallingCode: 1, region: region, type: type)
    }

    private func decide(
        _ number: PhoneNumber? = nil, isFrozen: Bool = false, limits: Bool = true, isOwner: Bool = false,
        age: SendTarget.AccountAge = .new, evidence: SendGuard.Evidence? = nil,
        _ edit: (inout SendCounts) -> Void = { _ in }
    ) -> SendGuard.Decision {
        var counts = SendCounts()
        edit(&counts)
        let attempt = SendGuard.Attempt(
            number: number ?? self.number(), isOwner: isOwner, isFrozen: isFrozen, age: age, evidence: evidence)
        return SendGuard(policy: PhonePolicy(), limitsRates: limits).decide(attempt, counts)
    }

    private static let firstText = SendGuard.Decision.send(attributedTo: [.provider, .country], through: [])
    private static let furtherText = SendGuard.Decision.send(attributedTo: [], through: [])

    @Test("lets a first text to an allowed number out")
    func first() {
        #expect(decide() == Self.firstText)
    }

    @Test("withholds, whether or not limits are on, what rules forbid")
    func rules() {
        for limits in [true, false] {
            #expect(decide(number(region: "LV"), limits: limits) == .withhold(.country, thins: nil))
            for type in [PhoneNumber.NumberType.premiumRate, .tollFree, .voip] {
                #expect(decide(number(type: type), limits: limits) == .withhold(.type, thins: nil))
            }
            #expect(decide(isFrozen: true, limits: limits) == .withhold(.frozen, thins: nil))
        }
    }

    @Test("withholds at each limit exactly")
    func limits() {
        #expect(decide { $0.numberLastHour = 4 } == Self.firstText)
        #expect(decide { $0.numberLastHour = 5 } == .withhold(.numberLimit, thins: nil))
        #expect(decide { $0.numberLastDay = 9 } == Self.firstText)
        #expect(decide { $0.numberLastDay = 10 } == .withhold(.numberLimit, thins: nil))
        #expect(decide { $0.prefix.hour = Conversion(sends: 9) } == Self.furtherText)
        #expect(decide { $0.prefix.hour = Conversion(sends: 10) } == .withhold(.prefixLimit, thins: nil))
        #expect(decide { $0.prefix.hour = Conversion(sends: 19, verified: 5) } == Self.furtherText)
        #expect(decide { $0.prefix.hour = Conversion(sends: 20, verified: 5) } == .withhold(.prefixLimit, thins: nil))
        #expect(decide { $0.prefix.day = Conversion(sends: 20) } == .withhold(.prefixLimit, thins: nil))
        #expect(
            decide { $0.prefix.hour = Conversion(sends: 100, verified: 100) } == .withhold(.prefixLimit, thins: nil))
        #expect(decide { $0.group.hour = Conversion(sends: 9) } == Self.furtherText)
        #expect(decide { $0.group.hour = Conversion(sends: 10) } == .withhold(.groupLimit, thins: nil))
        #expect(decide { $0.group.hour = Conversion(sends: 19, verified: 5) } == Self.furtherText)
        #expect(decide { $0.group.day = Conversion(sends: 29) } == Self.firstText)
        #expect(decide { $0.group.day = Conversion(sends: 30) } == .withhold(.groupLimit, thins: nil))
    }

    @Test("leaves half of a prefix's budget to others than the network that holds texts without a right code there")
    func halves() {
        func held(_ tally: inout Tally) { tally.day = Conversion(sends: 1) }
        for (sends, decision) in [(4, Self.furtherText), (5, .withhold(.prefixLimit, thins: nil))] {
            #expect(
                decide {
                    $0.prefix.hour = Conversion(sends: sends)
                    held(&$0.prefixFromNetwork)
                } == decision)
        }
        #expect(
            decide {
                $0.prefix.day = Conversion(sends: 10)
                held(&$0.prefixFromNetwork)
            } == .withhold(.prefixLimit, thins: nil))
    }

    @Test("keeps a part of the day's spending from new accounts, and a part of it from each provider's users")
    func spending() {
        let ceiling = SendGuard.Decision.withhold(.spendCeiling, thins: nil)
        #expect(decide { $0.spentToday = 79_992 } == Self.firstText)
        #expect(decide { $0.spentToday = 79_993 } == ceiling)
        #expect(decide { $0.spentTodayByProvider = 63_992 } == Self.firstText)
        #expect(decide { $0.spentTodayByProvider = 63_993 } == ceiling)
        #expect(decide(age: .settled) { $0.spentTodayByProvider = 79_992 } == Self.firstText)
        #expect(decide(age: .settled) { $0.spentTodayByProvider = 79_993 } == ceiling)
        #expect(decide(age: .settled) { $0.spentToday = 99_993 } == ceiling)
        #expect(decide(isOwner: true) { $0.spentTodayByProvider = 99_992 } == Self.furtherText)
        #expect(decide(isOwner: true) { $0.spentToday = 99_993 } == ceiling)
    }

    @Test("thins out from 50 texts in an hour on with less than 15 of a hundred verified, the provider first")
    func breaker() {
        let trip = SendGuard.Decision.withhold(.countryThinned, thins: .country)
        #expect(decide { $0.country = Conversion(sends: 49) } == Self.firstText)
        #expect(decide { $0.country = Conversion(sends: 50, verified: 7) } == trip)
        #expect(decide { $0.country = Conversion(sends: 50, verified: 8) } == Self.firstText)
        #expect(decide { $0.country = Conversion(sends: 1000, verified: 149) } == trip)
        #expect(decide { $0.country = Conversion(sends: 1000, verified: 150) } == Self.firstText)
        #expect(
            decide {
                $0.country = Conversion(sends: 50)
                $0.provider = Conversion(sends: 50)
            } == .withhold(.providerThinned, thins: .provider))
        #expect(
            decide { $0.prefix.hour = Conversion(sends: 50, verified: 7) }
                == .withhold(.prefixThinned, thins: .prefix))
        // Half of what thins out a country is all that one provider's failures weigh there.
        #expect(decide { $0.provider = Conversion(sends: 24) } == Self.firstText)
        #expect(decide { $0.provider = Conversion(sends: 25) } == .send(attributedTo: [.provider], through: []))
    }

    @Test("lets some through where texts are limited, trusted groups and people first, and owners always")
    func thinned() {
        let failing = Conversion(sends: 1000)
        for scope in SendScope.allCases {
            let closed = SendGuard.Decision.withhold(SendGuard.WithheldReason(scope), thins: nil)
            let through = SendGuard.Decision.send(attributedTo: [], through: [scope])
            func ask(
                _ sent: Conversion, group: Conversion, _ evidence: SendGuard.Evidence? = nil, isOwner: Bool = false
            )
                -> SendGuard.Decision
            {
                decide(isOwner: isOwner, evidence: evidence) {
                    if scope == .provider { $0.provider = failing }
                    if scope == .country { $0.country = failing }
                    $0.thinned[scope] = sent
                    $0.groupInPeriod = group
                }
            }
            let failed = Conversion(sends: 1)
            for (sent, decision) in [
                (Conversion(), through), (Conversion(sends: 9), through), (Conversion(sends: 10), closed),
                (Conversion(sends: 14, verified: 3), through), (Conversion(sends: 16, verified: 3), closed),
            ] {
                #expect(ask(sent, group: failed) == decision)
            }
            for (sent, decision) in [
                (Conversion(sends: 1999), through), (Conversion(sends: 2000), closed),
                (Conversion(sends: 2010, verified: 6), through),
            ] {
                #expect(ask(sent, group: Conversion()) == decision)
                for evidence in SendGuard.Evidence.allCases { #expect(ask(sent, group: failed, evidence) == decision) }
            }
            #expect(ask(failing, group: failed, isOwner: true) == Self.furtherText)
        }
    }

    @Test("trusts a group while at most one of four texts in a week lacks a right code")
    func trust() {
        func isTrusted(_ sends: Int, _ verified: Int) -> Bool {
            decide {
                $0.thinned[.provider] = Conversion(sends: 10)
                $0.groupInPeriod = Conversion(sends: sends, verified: verified)
            } == .send(attributedTo: [], through: [.provider])
        }
        for (sends, verified) in [(0, 0), (5, 5), (4, 3), (40, 30), (100, 85)] { #expect(isTrusted(sends, verified)) }
        for (sends, verified) in [(1, 0), (2, 1), (3, 2), (41, 30), (10, 3)] { #expect(!isTrusted(sends, verified)) }
    }

    @Test("keeps the last part of the day's spending from new accounts of groups that are not trusted")
    func spendingOfGroups() {
        let ceiling = SendGuard.Decision.withhold(.spendCeiling, thins: nil)
        func ask(_ spent: Int, age: SendTarget.AccountAge = .new, _ evidence: SendGuard.Evidence? = nil)
            -> SendGuard.Decision
        {
            decide(age: age, evidence: evidence) {
                $0.spentTodayByProvider = spent
                $0.groupInPeriod = Conversion(sends: 1)
            }
        }
        #expect(ask(39_992) == Self.firstText)
        #expect(ask(39_993) == ceiling)
        #expect(ask(51_992, .captcha) == Self.firstText)
        #expect(ask(51_993, .presence) == ceiling)
        #expect(ask(79_992, age: .settled) == Self.firstText)
    }

    @Test("lets everything but rules pass where limits are off")
    func limitsOff() {
        let decision = decide(limits: false) {
            $0.numberLastHour = 1000
            $0.prefix.hour = Conversion(sends: 1000)
            $0.group.hour = Conversion(sends: 1000)
            $0.country = Conversion(sends: 1000)
            $0.thinned[.country] = Conversion(sends: 1000)
            $0.spentToday = 1_000_000
        }
        #expect(decision == Self.furtherText)
    }

    @Test("An account is new until its number is proven or its days are full")
    func ages() {
        let policy = PhonePolicy()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func age(_ seconds: TimeInterval, _ level: Assurance) -> SendTarget.AccountAge {
            SendTarget.AccountAge(createdAt: now - seconds, assurance: level, now: now, policy: policy)
        }
        #expect(age(0, .none) == .new)
        #expect(age(7 * 86_400 - 1, .none) == .new)
        #expect(age(7 * 86_400, .none) == .settled)
        #expect(age(0, .phone) == .settled)
    }

    @Test("Neighbours are one network: /24 of IPv4, /48 of IPv6")
    func networks() {
        #expect(SendTarget.RequesterNetwork.key(ofAddress: "192.0.2.77") == "192.0.2/24")
        #expect(SendTarget.RequesterNetwork.key(ofAddress: "32.1.13.184.0.1.0.2/64") == "32.1.13.184.0.1/48")
        for other in ["local", "", "/64", "1.2.3/64", "a.b"] {
            #expect(SendTarget.RequesterNetwork.key(ofAddress: other) == other)
        }
    }

    @Test("tells a user openly of the user's own limits, and gives a number's owner a budget of the owner's")
    func userLimits() throws {
        let rule = SendGuard(policy: PhonePolicy(), limitsRates: true)
        let stranger = SendGuard.Attempt(number: number(), isOwner: false, isFrozen: false, age: .new)
        let owner = SendGuard.Attempt(number: number(), isOwner: true, isFrozen: false, age: .settled)
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
            // Swift compares the Kelvin sign like the letter.
            "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/\u{212A}iosk/7f-1",
        ]
        for arn in others {
            let kiosk = "arn:aws:sns:us-east-1:123456789012:app/APNS/Kiosk"
            #expect(throws: Refusal(.malformedRequest, "")) { try PushEndpoint(arn, of: [application, kiosk]) }
        }
        #expect(throws: Refusal(.malformedRequest, "")) { try PushEndpoint(endpoint, of: []) }
        for text in ["", "arn", endpoint, "arn:aws:sqs:us-east-1:123456789012:app/APNS/x"] {
            #expect(!PushEndpoint.isApplication(text))
        }
    }
}
