import Domain
import Encoding
import Foundation
import PhoneNumbers

/// What the store counts, counted in memory for as many requests as a simulation wants; the rules and the names of the
/// counters are the service's own.
package struct SendLedger {
    package enum Answer { case sent, withheld, refused }

    /// Who asks.
    package struct Requester: Sendable {
        package var user: String
        package var address: String
        package var provider: ProviderID
        package var age: SendTarget.AccountAge
        package var isOwner: Bool

        package init(
            user: String, address: String, provider: ProviderID = Requester.firstProvider,
            age: SendTarget.AccountAge = .new,
            isOwner: Bool = false
        ) {
            self.user = user
            self.address = address
            self.provider = provider
            self.age = age
            self.isOwner = isOwner
        }

        package static let firstProvider = ProviderID(UUID())
        package static let secondProvider = ProviderID(UUID())
    }

    private struct Sending {
        let at: Date
        let user: String
        let isSent: Bool
        let byOwner: Bool
    }

    private struct Step {
        let number: Int
        var count = Conversion()
    }

    private let policy: PhonePolicy
    private var numbers: [String: [Sending]] = [:]
    private var tallies: [String: [Step]] = [:]
    private var groups: [String: [Step]] = [:]
    private var open: [String: [(at: Date, counters: [String])]] = [:]
    private var numbersOfUsers: [String: [String: Date]] = [:]
    private var addresses: [String: Date] = [:]
    private var ends: [String: Date] = [:]
    private var spent: [String: Int] = [:]
    private var digests: [String: Digest256] = [:]
    /// What the breaker thinned out, in this order.
    package private(set) var thinned: [String] = []
    /// Why texts were withheld.
    package private(set) var withheld: [SendGuard.WithheldReason: Int] = [:]

    package init(policy: PhonePolicy) {
        self.policy = policy
    }

    private static func day(_ moment: Date) -> Int { Int(moment.timeIntervalSince1970) / 86_400 }

    /// Counts a text or a right code of a group of requesters.
    private mutating func add(_ count: Conversion, toGroup name: String, at moment: Date) {
        Self.add(count, to: &groups[name, default: []], in: Self.day(moment))
    }

    private static func step(_ moment: Date) -> Int { Int(moment.timeIntervalSince1970) / 300 }

    private func tally(_ name: String, now: Int) -> Tally {
        var tally = Tally()
        for step in (tallies[name] ?? []).reversed() {
            if step.number <= now - 288 { break }
            tally.day.sends += step.count.sends
            tally.day.verified += step.count.verified
            guard step.number > now - 12 else { continue }
            tally.hour.sends += step.count.sends
            tally.hour.verified += step.count.verified
        }
        return tally
    }

    private mutating func add(_ count: Conversion, to counters: [String], at moment: Date) {
        for counter in counters { Self.add(count, to: &tallies[counter, default: []], in: Self.step(moment)) }
    }

    private static func add(_ count: Conversion, to steps: inout [Step], in number: Int) {
        let place = steps.lastIndex { $0.number == number } ?? steps.endIndex
        if place == steps.endIndex { steps.append(Step(number: number)) }
        steps[place].count.sends += count.sends
        steps[place].count.verified += count.verified
    }

    private mutating func digest(_ text: String) -> Digest256 {
        if let digest = digests[text] { return digest }
        let digest = Digest256.of(text)
        digests[text] = digest
        return digest
    }

    private mutating func target(_ requester: Requester, _ number: PhoneNumber) -> SendTarget {
        let prefix = SendGuard.prefix(of: number)
        return SendTarget(
            userID: Self.user, providerID: requester.provider, age: requester.age,
            network: digest(SendTarget.RequesterNetwork.key(ofAddress: requester.address)), number: digest(number.e164),
            prefixName: "\(number.region) \(prefix)", prefix: digest(prefix), country: number.region,
            isOwner: requester.isOwner)
    }

    private static let user = UserID(UUID())

    package mutating func ask(
        _ requester: Requester, number: PhoneNumber, evidence: SendGuard.Evidence? = nil, now: Date
    ) -> Answer {
        let limit = RateLimit(count: policy.sendsPerHourPerSender.perAddress, per: 3600)
        let place = "\(requester.address) \(requester.age)"
        guard case .admitted(let arrival) = limit.evaluate(arrival: addresses[place], now: now) else { return .refused }
        let target = target(requester, number)
        let counts = counts(target, requester, number, now: now)
        let rule = SendGuard(policy: policy, limitsRates: true)
        let attempt = SendGuard.Attempt(
            number: number, isOwner: requester.isOwner, isFrozen: false, age: requester.age, evidence: evidence)
        guard (try? rule.requireWithinUserLimits(attempt, counts)) != nil else { return .refused }
        addresses[place] = arrival
        numbersOfUsers[requester.user, default: [:]][number.e164] = now
        let decision = rule.decide(attempt, counts)
        var counters: [String]?
        switch decision {
        case .withhold(let reason, let scope):
            withheld[reason, default: 0] += 1
            if let scope {
                thinned.append(target.name(of: scope))
                ends[target.name(of: scope)] = now + policy.breakerPause
            }
        case .send(let attributedTo, let through):
            let names = target.counters(attributedTo: attributedTo, through: through)
            add(Conversion(sends: 1), to: names, at: now)
            if let group = target.group { add(Conversion(sends: 1), toGroup: group, at: now) }
            open["\(requester.user) \(number.e164)", default: []].append((now, names))
            for name in Self.days(now, requester) { spent[name, default: 0] += policy.textPrice }
            counters = names
        }
        numbers[number.e164, default: []].append(
            Sending(at: now, user: requester.user, isSent: counters != nil, byOwner: requester.isOwner))
        return counters == nil ? .withheld : .sent
    }

    private static func days(_ now: Date, _ requester: Requester) -> [String] {
        ["\(day(now))", "\(day(now)) \(requester.provider)"]
    }

    private func counts(_ target: SendTarget, _ requester: Requester, _ number: PhoneNumber, now: Date) -> SendCounts {
        var counts = SendCounts()
        let (hour, day) = (now - 3600, now - 86_400)
        counts.otherNumbersOfUser =
            (numbersOfUsers[requester.user] ?? [:]).filter {
                $0.key != number.e164 && $0.value > now - policy.numbersPerUserPeriod
            }.count
        for sending in (numbers[number.e164] ?? []).reversed() {
            if sending.at <= day { break }
            if sending.user == requester.user { counts.askedByUserToday += 1 }
            guard sending.isSent, sending.byOwner == requester.isOwner else { continue }
            counts.numberLastDay += 1
            if sending.at > hour { counts.numberLastHour += 1 }
        }
        let step = Self.step(now)
        var found: [String: Tally] = [:]
        for name in target.counters { found[name] = tally(name, now: step) }
        let thinned = SendScope.allCases.filter { ends[target.name(of: $0)].map { now < $0 } ?? false }
        target.fill(&counts, from: found, thinned: requester.isOwner ? [] : Set(thinned))
        if let group = target.group {
            let first = Self.day(now - SendCounts.groupPeriod)
            for day in groups[group] ?? [] where day.number >= first {
                counts.groupInPeriod.sends += day.count.sends
                counts.groupInPeriod.verified += day.count.verified
            }
        }
        let days = Self.days(now, requester)
        counts.spentToday = spent[days[0]] ?? 0
        counts.spentTodayByProvider = spent[days[1]] ?? 0
        return counts
    }

    /// Notes that a user showed the code of the last texts.
    package mutating func verify(_ requester: Requester, number: PhoneNumber) {
        for (at, counters) in open.removeValue(forKey: "\(requester.user) \(number.e164)") ?? [] {
            add(Conversion(verified: 1), to: counters, at: at)
            for group in counters where SendTarget.isGroup(group) {
                add(Conversion(verified: 1), toGroup: group, at: at)
            }
        }
    }

    /// How many texts went to a number.
    package func sent(to number: PhoneNumber) -> Int { (numbers[number.e164] ?? []).count { $0.isSent } }
}
