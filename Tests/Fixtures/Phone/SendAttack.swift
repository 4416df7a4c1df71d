import Domain
import Foundation
import PhoneNumbers

/// Bots that ask one provider for texts to random numbers, and newcomers beside them. The clock is simulated, and the
/// rules are the service's own.
package struct SendAttack {
    /// How long the bots ask, in hours.
    package var hours = 8
    /// For how many hours newcomers come after them.
    package var quietHours = 0
    /// The percentage of the bots' codes that are submitted.
    package var confirmedPercent = 0
    package var bots = 5000
    /// The networks of /24 that the bots are in.
    package var networks = 2000
    package var botsPerMinute = 100
    package var newcomersPerMinute = 2
    package var newcomersNetworks = 500
    /// The percentage of newcomers who submit the code of a text.
    package var newcomersConfirmedPercent = 85
    package var seed: UInt64 = 1
    package var policy = PhonePolicy()

    package init() {}

    /// What became of them.
    package struct Outcome {
        package var newcomers = 0
        /// The newcomers who got a text.
        package var served = 0
        /// The texts to the bots.
        package var wasted = 0
        /// What these cost, in thousandths of the currency.
        package var cost = 0

        package var servedPercent: Double { newcomers > 0 ? Double(served) * 100 / Double(newcomers) : 0 }
    }

    /// Runs the simulation from 00:00 UTC on.
    package func run() -> Outcome {
        var run = Run(attack: self)
        return run.outcome()
    }
}

/// One run of a ``SendAttack``.
private struct Run {
    private enum Step {
        case bot
        case newcomer
        /// A newcomer without a text asks again after 30 and 60 seconds, as apps offer.
        case repetition(SendLedger.Requester, PhoneNumber, round: Int)
        case code(SendLedger.Requester, PhoneNumber)
    }

    private static let start = Date(timeIntervalSince1970: 1_799_971_200)
    private static let areas = [
        205, 206, 212, 213, 214, 303, 305, 312, 313, 404, 408, 412, 415, 502, 503, 504, 512, 602, 615, 617, 702, 713,
        718, 801, 804, 808, 813, 904, 907, 919,
    ]

    private let attack: SendAttack
    private var random: SeededRandom
    private var ledger: SendLedger
    private var found = SendAttack.Outcome()
    /// What is still to happen; the next step comes last.
    private var steps: [(at: Double, step: Step)] = []
    private var newcomers = 0

    init(attack: SendAttack) {
        self.attack = attack
        random = SeededRandom(seed: attack.seed)
        ledger = SendLedger(policy: attack.policy)
    }

    mutating func outcome() -> SendAttack.Outcome {
        for minute in (0..<(attack.hours + attack.quietHours) * 60).reversed() {
            let bots = minute < attack.hours * 60 ? attack.botsPerMinute : 0
            var arrivals: [(at: Double, step: Step)] = []
            for index in 0..<(bots + attack.newcomersPerMinute) {
                arrivals.append(((Double(minute) + share()) * 60, index < bots ? .bot : .newcomer))
            }
            steps += arrivals.sorted { $0.at > $1.at }
        }
        while let (at, step) = steps.popLast() { take(step, at: at) }
        return found
    }

    private mutating func take(_ step: Step, at: Double) {
        switch step {
        case .bot:
            let bot = Int.random(in: 0..<attack.bots, using: &random)
            let requester = Self.requester("bot", bot, network: bot % attack.networks, of: 10)
            guard let number = number(), ask(requester, number, at: at) else { return }
            found.wasted += 1
            found.cost += attack.policy.textPrice
            typeCode(requester, number, percent: attack.confirmedPercent, after: at)
        case .newcomer:
            newcomers += 1
            found.newcomers += 1
            let network = Int.random(in: 0..<attack.newcomersNetworks, using: &random)
            guard let number = number() else { return }
            serve(Self.requester("newcomer", newcomers, network: network, of: 20), number, round: 0, at: at)
        case .repetition(let requester, let number, let round): serve(requester, number, round: round, at: at)
        case .code(let requester, let number): ledger.verify(requester, number: number)
        }
    }

    private mutating func serve(
        _ requester: SendLedger.Requester, _ number: PhoneNumber, round: Int, at: Double
    ) {
        if ask(requester, number, at: at) {
            found.served += 1
            typeCode(requester, number, percent: attack.newcomersConfirmedPercent, after: at)
        } else if round < 2 {
            insert(.repetition(requester, number, round: round + 1), at: at + (round == 0 ? 30 : 60))
        }
    }

    private mutating func ask(_ requester: SendLedger.Requester, _ number: PhoneNumber, at: Double) -> Bool {
        ledger.ask(requester, number: number, now: Self.start + at) == .sent
    }

    private mutating func typeCode(
        _ requester: SendLedger.Requester, _ number: PhoneNumber, percent: Int, after at: Double
    ) {
        guard Int.random(in: 0..<100, using: &random) < percent else { return }
        insert(.code(requester, number), at: at + 10 + share() * 50)
    }

    /// They are few that come late, so they are near the end.
    private mutating func insert(_ step: Step, at: Double) {
        let place = steps.lastIndex { $0.at > at }.map { $0 + 1 } ?? 0
        steps.insert((at, step), at: place)
    }

    private mutating func share() -> Double { Double.random(in: 0..<1, using: &random) }

    private mutating func number() -> PhoneNumber? {
        let area = Self.areas[Int.random(in: 0..<Self.areas.count, using: &random)]
        let local = Int.random(in: 2_220_000..<9_990_000, using: &random)
        return PhoneNumber(canonical: "+1\(area)\(local)")
    }

    private static func requester(_ kind: String, _ index: Int, network: Int, of first: Int) -> SendLedger.Requester {
        SendLedger.Requester(
            user: "\(kind) \(index)", address: "\(first).\(network / 256).\(network % 256).\(index % 200 + 1)")
    }
}
