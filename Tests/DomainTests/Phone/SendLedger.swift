import Encoding
import Foundation

@testable import Domain
@testable import PhoneNumbers

/// What the store counts, counted in memory for as many requests as a simulation wants; the rules and the names of the
/// counters are the service's own.
struct SendLedger {
    enum Answer { case sent, withheld, refused }

    /// Who asks.
    struct Asker {
        var user: String
        var address: String
        var provider = Asker.firstProvider
        var age = AccountAge.new
        var isOwner = false

        static let firstProvider = ProviderID(UUID())
        static let secondProvider = ProviderID(UUID())
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
    private var open: [String: [(at: Date, counters: [String])]] = [:]
    private var numbersOfUsers: [String: [String: Date]] = [:]
    private var addresses: [String: Date] = [:]
    private var ends: [String: Date] = [:]
    private var spent: [String: Int] = [:]
    private var digests: [String: Digest256] = [:]
    /// What the breaker thinned out, in this order.
    private(set) var thinned: [String] = []
    /// Why texts were withheld.
    private(set) var withheld: [WithheldReason: Int] = [:]

    init(policy: PhonePolicy) {
        self.policy = policy
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
        let number = Self.step(moment)
        for counter in counters {
            var steps = tallies[counter] ?? []
            let place = steps.lastIndex { $0.number == number } ?? steps.endIndex
            if place == steps.endIndex { steps.append(Step(number: number)) }
            steps[place].count.sends += count.sends
            steps[place].count.verified += count.verified
            tallies[counter] = steps
        }
    }

    private mutating func digest(_ text: String) -> Digest256 {
        if let digest = digests[text] { return digest }
        let digest = Digest256.of(text)
        digests[text] = digest
        return digest
    }

    private mutating func target(_ asker: Asker, _ number: PhoneNumber) -> SendTarget {
        let prefix = SendGuard.prefix(of: number)
        return SendTarget(
            userID: Self.user, providerID: asker.provider, age: asker.age,
            network: digest(AskerNetwork.key(ofAddress: asker.address)), number: digest(number.e164),
            prefixName: "\(number.region) \(prefix)", prefix: digest(prefix), country: number.region,
            isOwner: asker.isOwner)
    }

    private static let user = UserID(UUID())

    mutating func ask(_ asker: Asker, number: PhoneNumber, now: Date) -> Answer {
        let limit = RateLimit(count: policy.sendsPerHourPerAddress, per: 3600)
        let place = "\(asker.address) \(asker.age)"
        guard case .admitted(let arrival) = limit.judge(arrival: addresses[place], now: now) else { return .refused }
        let target = target(asker, number)
        let counts = counts(target, asker, number, now: now)
        let rule = SendGuard(policy: policy, limitsRates: true)
        let attempt = SendAttempt(number: number, isOwner: asker.isOwner, isFrozen: false, age: asker.age)
        guard (try? rule.requireWithinUserLimits(attempt, counts)) != nil else { return .refused }
        addresses[place] = arrival
        numbersOfUsers[asker.user, default: [:]][number.e164] = now
        let decision = rule.decide(attempt, counts)
        var counters: [String]?
        switch decision {
        case .withhold(let reason, let scope):
            withheld[reason, default: 0] += 1
            if let scope {
                thinned.append(target.name(of: scope))
                ends[target.name(of: scope)] = now + policy.breakerPause
            }
        case .send(let bearsOn, let through):
            let names = target.counters(bearingOn: bearsOn, through: through)
            add(Conversion(sends: 1), to: names, at: now)
            open["\(asker.user) \(number.e164)", default: []].append((now, names))
            for name in Self.days(now, asker) { spent[name, default: 0] += policy.textPrice }
            counters = names
        }
        numbers[number.e164, default: []].append(
            Sending(at: now, user: asker.user, isSent: counters != nil, byOwner: asker.isOwner))
        return counters == nil ? .withheld : .sent
    }

    private static func days(_ now: Date, _ asker: Asker) -> [String] {
        let day = Int(now.timeIntervalSince1970) / 86_400
        return ["\(day)", "\(day) \(asker.provider)"]
    }

    private func counts(_ target: SendTarget, _ asker: Asker, _ number: PhoneNumber, now: Date) -> SendCounts {
        var counts = SendCounts()
        let (hour, day) = (now - 3600, now - 86_400)
        counts.otherNumbersOfUser =
            (numbersOfUsers[asker.user] ?? [:]).filter {
                $0.key != number.e164 && $0.value > now - policy.numbersPerUserPeriod
            }.count
        for sending in (numbers[number.e164] ?? []).reversed() {
            if sending.at <= day { break }
            if sending.user == asker.user { counts.askedByUserToday += 1 }
            guard sending.isSent, sending.byOwner == asker.isOwner else { continue }
            counts.numberLastDay += 1
            if sending.at > hour { counts.numberLastHour += 1 }
        }
        let step = Self.step(now)
        var found: [String: Tally] = [:]
        for name in target.counters { found[name] = tally(name, now: step) }
        let thinned = SendScope.allCases.filter { ends[target.name(of: $0)].map { now < $0 } ?? false }
        target.fill(&counts, from: found, thinned: asker.isOwner ? [] : Set(thinned))
        let days = Self.days(now, asker)
        counts.spentToday = spent[days[0]] ?? 0
        counts.spentTodayByProvider = spent[days[1]] ?? 0
        return counts
    }

    /// Notes that a user showed the code of the last texts.
    mutating func verify(_ asker: Asker, number: PhoneNumber) {
        for (at, counters) in open.removeValue(forKey: "\(asker.user) \(number.e164)") ?? [] {
            add(Conversion(verified: 1), to: counters, at: at)
        }
    }

    /// How many texts went to a number.
    func sent(to number: PhoneNumber) -> Int { (numbers[number.e164] ?? []).count { $0.isSent } }
}
