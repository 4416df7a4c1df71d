import Fixtures
import Foundation
import Testing

@testable import Domain
@testable import PhoneNumbers

/// A day of people who sign up, and of others who ask for texts beside them.
struct SendDay {
    /// A person signs up once; the app asks again twice where no text came.
    struct Person {
        let requester: SendLedger.Requester
        let number: PhoneNumber
        let at: Double
        /// From the text to the code, in seconds; `nil` for who never types it.
        let typing: Double?
    }

    /// A request of somebody who never types a code.
    struct Hostile {
        let requester: SendLedger.Requester
        let number: PhoneNumber
        let at: Double
    }

    private enum Step {
        case hostile(Int)
        case ask(person: Int, round: Int)
        case verify(person: Int)
    }

    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    static func number(_ area: Int, _ last: Int, region: String = "US", _ type: PhoneNumber.NumberType = .mobile)
        -> PhoneNumber
    {
        PhoneNumber(e164: "+1\(area * 10_000 + last)", countryCallingCode: 1, region: region, type: type)
    }

    var ledger = SendLedger(policy: PhonePolicy())
    var wasted = 0
    var served = Set<Int>()

    init(people: [Person], hostile: [Hostile]) {
        var steps: [(at: Double, step: Step)] = []
        for (index, attempt) in hostile.enumerated() { steps.append((attempt.at, .hostile(index))) }
        for (index, person) in people.enumerated() { steps.append((person.at, .ask(person: index, round: 0))) }
        steps.sort { $0.at > $1.at }
        while let (at, step) = steps.popLast() {
            let now = Self.start + at
            switch step {
            case .hostile(let index):
                let attempt = hostile[index]
                if ledger.ask(attempt.requester, number: attempt.number, now: now) == .sent { wasted += 1 }
            case .ask(let index, let round):
                let person = people[index]
                if ledger.ask(person.requester, number: person.number, now: now) == .sent {
                    served.insert(index)
                    if let typing = person.typing { Self.insert((at + typing, .verify(person: index)), in: &steps) }
                } else if round < 2 {
                    // No text came: the person asks again, as the app offers after 30 and 60 seconds.
                    let wait: Double = round == 0 ? 30 : 60
                    Self.insert((at + wait, .ask(person: index, round: round + 1)), in: &steps)
                }
            case .verify(let index): ledger.verify(people[index].requester, number: people[index].number)
            }
        }
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

@Suite("A day under attack")
struct SendSimulationTests {
    private typealias Requester = SendLedger.Requester

    /// What fraud looks like: rented blocks of numbers here, premium and foreign numbers beside them, thousands of
    /// accounts and addresses. Beside it people, spread over the country, of whom one in twelve never types the code.
    @Test("100,000 hostile requests waste at most 400 texts, and 991 of a thousand people still get theirs")
    func day() {
        var generator = SeededGenerator(state: 8446)
        let rented = (0..<20).map { 310_200 + $0 * 7 }
        let peoplesPrefixes = (0..<400).map { 415_300 + $0 * 3 } + rented.prefix(4)
        let numbers = (0..<1000).map { index in
            SendDay.number(
                peoplesPrefixes[Int.random(in: 0..<peoplesPrefixes.count, using: &generator)], index,
                region: index % 10 == 0 ? "CA" : "US")
        }
        // The attack comes upon a service that has run for an hour; half of it within its first two hours.
        let times = (0..<100_000).map { attack in
            Double.random(in: 3600..<(attack % 2 == 0 ? 10_800 : 86_400), using: &generator)
        }
        let peoplesTimes = numbers.map { _ in Double.random(in: 0..<86_400, using: &generator) }
        let hostile = times.map { at in
            let kind = Int.random(in: 0..<100, using: &generator)
            let block = rented[Int.random(in: 0..<rented.count, using: &generator)]
            return SendDay.Hostile(
                requester: Requester(
                    user: "hostile \(Int.random(in: 0..<5000, using: &generator))",
                    address: "hostile \(Int.random(in: 0..<3000, using: &generator))"),
                number: SendDay.number(
                    block, Int.random(in: 0..<1000, using: &generator), region: kind < 30 ? "LV" : "US",
                    kind < 35 ? .premiumRate : .mobile), at: at)
        }
        let people = numbers.enumerated().map { index, number in
            SendDay.Person(
                requester: Requester(user: "person \(index)", address: "home \(index / 3)"), number: number,
                at: peoplesTimes[index],
                typing: index % 12 == 0 ? nil : Double.random(in: 10..<60, using: &generator))
        }
        let day = SendDay(people: people, hostile: hostile)
        #expect(day.wasted <= 400, "\(day.wasted) wasted")
        #expect(day.served.count >= 991, "\(day.served.count) served")
        #expect(day.ledger.thinned.isEmpty, "\(day.ledger.thinned)")
    }

    /// Whom ten accounts aim at.
    enum Aim: CaseIterable {
        case everNewPrefixes, onePrefix, peoplesPrefixes, anotherCountry
    }

    /// A small service: a hundred people a day, so that few right codes speak for it. People of two providers, new and
    /// settled ones and owners, in homes of three; a tenth of them on one prefix.
    private static func makePeople() -> [SendDay.Person] {
        var generator = SeededGenerator(state: 51)
        return (0..<1000).map { index in
            var requester = Requester(user: "person \(index)", address: "198.\(index / 768).\(index / 3 % 256).9")
            if index % 7 == 0 { requester.provider = Requester.secondProvider }
            if index % 5 == 0 { requester.age = .settled }
            if index % 20 == 0 { requester.isOwner = true }
            let prefix = index % 10 == 1 ? 415_555 : 416_000 + Int.random(in: 0..<400, using: &generator)
            return SendDay.Person(
                requester: requester, number: SendDay.number(prefix, index, region: index % 9 == 0 ? "CA" : "US"),
                at: Double.random(in: 0..<864_000, using: &generator),
                typing: index % 13 == 0 ? nil : Double.random(in: 10..<60, using: &generator))
        }
    }

    private static let people = makePeople()
    private static let quiet = SendDay(people: people, hostile: [])

    /// Ten accounts at five addresses, one try a minute for ten days: each its five numbers again and again.
    private static func fewAccounts(_ aim: Aim) -> [SendDay.Hostile] {
        (0..<14_400).map { minute in
            let (account, slot) = (minute % 10, minute / 10 % 5)
            let target = account * 5 + slot
            let number =
                switch aim {
                case .everNewPrefixes: SendDay.number(500_000 + target, 1)
                case .onePrefix: SendDay.number(415_555, 9000 + target)
                case .peoplesPrefixes: SendDay.number(416_000 + target * 8, 9000)
                case .anotherCountry: SendDay.number(604_000 + target, 1, region: "CA")
                }
            return SendDay.Hostile(
                requester: Requester(user: "hostile \(account)", address: "203.0.\(account % 5).7"), number: number,
                at: Double(minute) * 60)
        }
    }

    @Test("Ten accounts from five addresses stop nobody else, whatever they aim at", arguments: Aim.allCases)
    func fewAccountsStopNobody(aim: Aim) {
        let quiet = Self.quiet
        #expect(quiet.served.count == 1000)
        let attacked = SendDay(people: Self.people, hostile: Self.fewAccounts(aim))
        #expect(attacked.served == quiet.served, "\(quiet.served.subtracting(attacked.served).count) unserved")
        #expect(attacked.ledger.thinned.isEmpty, "\(attacked.ledger.thinned)")
        #expect(attacked.wasted <= 1500, "\(attacked.wasted) wasted")
    }

    @Test("One number gets five texts an hour and ten a day whoever asks; its owner's budget is apart")
    func oneNumber() {
        var ledger = SendLedger(policy: PhonePolicy())
        let number = SendDay.number(415_555, 2671)
        // A new account each minute, each in a network of its own: only the limits of the number end it.
        for minute in 0..<600 {
            _ = ledger.ask(
                Requester(user: "hostile \(minute)", address: "203.\(minute / 256).\(minute % 256).7"), number: number,
                now: SendDay.start + Double(minute) * 60)
            if minute == 59 { #expect(ledger.sent(to: number) == 5) }
        }
        #expect(ledger.sent(to: number) == 10)
        let owner = Requester(user: "owner", address: "203.0.1.7", age: .settled, isOwner: true)
        for index in 0..<5 {
            let now = SendDay.start + 599 * 60 + Double(index)
            #expect(ledger.ask(owner, number: number, now: now) == .sent)
        }
    }

    @Test("Ten accounts have asked three texts each for one number in half an hour: five went out, none after them")
    func oneNumberFewAccounts() {
        var ledger = SendLedger(policy: PhonePolicy())
        let number = SendDay.number(415_555, 2671)
        var refused = 0
        for minute in 0..<600 {
            let account = minute % 10
            let answer = ledger.ask(
                Requester(user: "hostile \(account)", address: "203.0.\(account % 5).7"), number: number,
                now: SendDay.start + Double(minute) * 60)
            if answer == .refused { refused += 1 }
        }
        // What was withheld counts as asked too, or the answer would tell what others asked for: 30 of 600 are heard.
        #expect(ledger.sent(to: number) == 5)
        #expect(ledger.withheld == [.numberLimit: 25])
        #expect(refused == 570)
        // Whose number it is, and who has not proven it yet, gets a text in the next hour all the same.
        let person = Requester(user: "person", address: "198.51.100.7")
        #expect(ledger.ask(person, number: number, now: SendDay.start + 600 * 60) == .sent)
    }
}
