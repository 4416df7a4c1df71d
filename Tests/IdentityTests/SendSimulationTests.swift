import Foundation
import Testing

@testable import Identity

/// What the store counts, counted in memory for as many requests as a simulation wants.
struct SendLedger {
    enum Answer { case sent, withheld, refused }

    private struct Sending {
        let at: Date
        let user: String
        let isSent: Bool
        var isVerified = false
    }

    private let policy: PhonePolicy
    private var numbers: [String: [Sending]] = [:]
    private var prefixes: [String: [Sending]] = [:]
    private var countries: [String: [Sending]] = [:]
    private var numbersOfUsers: [String: [String: Date]] = [:]
    private var addresses: [String: Date] = [:]
    private var stopped: [String: Date] = [:]
    private var spent: [Int: Int] = [:]
    /// How often the breaker tripped.
    private(set) var stops = 0

    init(policy: PhonePolicy) {
        self.policy = policy
    }

    private static func count(_ list: [Sending]?, since moment: Date, where fits: (Sending) -> Bool) -> Int {
        var count = 0
        for sending in (list ?? []).reversed() {
            if sending.at <= moment { break }
            if fits(sending) { count += 1 }
        }
        return count
    }

    private static func conversion(_ list: [Sending]?, since moment: Date) -> Conversion {
        Conversion(
            sends: count(list, since: moment) { _ in true }, verified: count(list, since: moment, where: \.isVerified))
    }

    mutating func ask(user: String, address: String, number: PhoneNumber, now: Date) -> Answer {
        let prefix = SendGuard.prefix(of: number)
        let country = number.region
        let today = Int(now.timeIntervalSince1970) / 86_400
        var counts = SendCounts()
        let (hour, day) = (now - 3600, now - 86_400)
        counts.otherNumbersOfUser =
            (numbersOfUsers[user] ?? [:]).filter {
                $0.key != number.e164 && $0.value > now - policy.numbersPerUserPeriod
            }.count
        let ofNumber = numbers[number.e164]
        counts.askedByUserToday = Self.count(ofNumber, since: day) { $0.user == user }
        counts.numberLastHour = Self.count(ofNumber, since: hour, where: \.isSent)
        counts.numberLastDay = Self.count(ofNumber, since: day, where: \.isSent)
        counts.prefixLastHour = Self.conversion(prefixes[prefix], since: hour)
        counts.prefixLastDay = Self.conversion(prefixes[prefix], since: day)
        counts.country = Self.conversion(countries[country], since: hour)
        counts.isPrefixStopped = stopped[prefix].map { now < $0 } ?? false
        counts.isCountryStopped = stopped[country].map { now < $0 } ?? false
        counts.spentToday = spent[today] ?? 0

        let rule = SendGuard(policy: policy, limitsRates: true)
        let attempt = SendAttempt(number: number, isOwner: false, isFrozen: false)
        let limit = RateLimit(count: policy.sendsPerHourPerAddress, per: 3600)
        guard case .admitted(let arrival) = limit.judge(arrival: addresses[address], now: now),
            (try? rule.requireWithinUserLimits(attempt, counts)) != nil
        else { return .refused }
        addresses[address] = arrival
        numbersOfUsers[user, default: [:]][number.e164] = now
        let decision = rule.decide(attempt, counts)
        if case .withhold(_, let stop) = decision {
            if let stop {
                stopped[stop == .prefix ? prefix : country] = now + policy.breakerPause
                stops += 1
            }
            numbers[number.e164, default: []].append(Sending(at: now, user: user, isSent: false))
            return .withheld
        }
        let sending = Sending(at: now, user: user, isSent: true)
        numbers[number.e164, default: []].append(sending)
        prefixes[prefix, default: []].append(sending)
        if decision == .send(bearsOnCountry: true) { countries[country, default: []].append(sending) }
        spent[today, default: 0] += policy.textPrice
        return .sent
    }

    /// Notes that a user showed the code of the last text.
    mutating func verify(user: String, number: PhoneNumber) {
        func mark(_ list: inout [Sending]) {
            guard let index = list.lastIndex(where: { $0.user == user }) else { return }
            list[index].isVerified = true
        }
        mark(&prefixes[SendGuard.prefix(of: number), default: []])
        mark(&countries[number.region, default: []])
    }
}

@Suite("A day under attack")
struct SendSimulationTests {
    private enum Step {
        case hostile
        case ask(genuine: Int, round: Int)
        case verify(genuine: Int)
    }

    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private static func number(_ area: Int, _ last: Int, region: String, _ type: PhoneNumberType) -> PhoneNumber {
        PhoneNumber(e164: "+1\(area * 10_000 + last)", countryCallingCode: 1, region: region, type: type)
    }

    /// What fraud looks like: rented blocks of numbers here, premium and foreign numbers beside them, thousands of
    /// accounts and addresses. Beside it people, spread over the country, of whom one in twelve never types the code.
    @Test("100,000 hostile requests waste fewer than 500 texts, and 98 of a hundred people still get theirs")
    func day() {
        var generator = SeededGenerator(state: 8446)
        var ledger = SendLedger(policy: PhonePolicy())
        let rented = (0..<20).map { 310_200 + $0 * 7 }
        let peoplesPrefixes = (0..<400).map { 415_300 + $0 * 3 } + rented.prefix(4)
        let people = (0..<1000).map { index in
            Self.number(
                peoplesPrefixes[Int.random(in: 0..<peoplesPrefixes.count, using: &generator)], index,
                region: index % 10 == 0 ? "CA" : "US", .mobile)
        }
        var steps: [(at: Double, step: Step)] = []
        // The attack comes upon a service that has run for an hour; half of it within its first two hours.
        for attack in 0..<100_000 {
            let end: Double = attack % 2 == 0 ? 3 : 24
            steps.append((Double.random(in: 3600..<(end * 3600), using: &generator), .hostile))
        }
        for person in 0..<1000 {
            steps.append((Double.random(in: 0..<86_400, using: &generator), .ask(genuine: person, round: 0)))
        }
        steps.sort { $0.at > $1.at }

        var wasted = 0
        var served = Set<Int>()
        while let (at, step) = steps.popLast() {
            let now = Self.start + at
            switch step {
            case .hostile:
                let kind = Int.random(in: 0..<100, using: &generator)
                let block = rented[Int.random(in: 0..<rented.count, using: &generator)]
                let number = Self.number(
                    block, Int.random(in: 0..<1000, using: &generator), region: kind < 30 ? "LV" : "US",
                    kind < 35 ? .premiumRate : .mobile)
                let user = "hostile \(Int.random(in: 0..<5000, using: &generator))"
                let address = "hostile \(Int.random(in: 0..<3000, using: &generator))"
                if ledger.ask(user: user, address: address, number: number, now: now) == .sent { wasted += 1 }
            case .ask(let person, let round):
                let address = "home \(person / 3)"
                let answer = ledger.ask(user: "person \(person)", address: address, number: people[person], now: now)
                if answer == .sent {
                    served.insert(person)
                    let typing = Double.random(in: 10..<60, using: &generator)
                    if person % 12 != 0 { Self.insert((at + typing, .verify(genuine: person)), in: &steps) }
                } else if round < 2 {
                    // No text came: the person asks again, as the app offers after 30 and 60 seconds.
                    let wait: Double = round == 0 ? 30 : 60
                    Self.insert((at + wait, .ask(genuine: person, round: round + 1)), in: &steps)
                }
            case .verify(let person):
                ledger.verify(user: "person \(person)", number: people[person])
            }
        }
        #expect(wasted < 500, "\(wasted) wasted")
        #expect(served.count >= 980, "\(served.count) served")
        #expect(ledger.stops == 0)
    }

    /// Keeps the latest first.
    private static func insert(_ step: (at: Double, step: Step), in steps: inout [(at: Double, step: Step)]) {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].at > step.at { low = middle + 1 } else { high = middle }
        }
        steps.insert(step, at: low)
    }
}
