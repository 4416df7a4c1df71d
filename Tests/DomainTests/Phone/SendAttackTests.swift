import Fixtures
import Foundation
import Testing

@testable import Domain

/// 5,000 bots in 2,000 networks ask for 100 texts a minute, of whose codes none or three in ten come back. Beside them
/// two newcomers a minute ask from 500 other networks.
@Suite("Newcomers beside bots")
struct SendAttackTests {
    private static func requireServed(_ outcome: SendAttack.Outcome) {
        #expect(outcome.servedPercent >= 60, "\(outcome)")
        #expect(outcome.cost <= 64_000, "\(outcome)")
        #expect(outcome.newcomers > 0 && outcome.wasted > 0)
    }

    @Test("At least 60 of a hundred newcomers get a text in the first hour", arguments: [0, 30])
    func hour(confirmed: Int) {
        var attack = SendAttack()
        attack.hours = 1
        attack.confirmedPercent = confirmed
        Self.requireServed(attack.run())
    }

    @Test(
        "At least 60 of a hundred get one through eight hours and the rest of the day, and the bots cost at most $64",
        arguments: [0, 30])
    func day(confirmed: Int) {
        for seed in 1...3 {
            var attack = SendAttack()
            (attack.quietHours, attack.confirmedPercent, attack.seed) = (16, confirmed, UInt64(seed))
            Self.requireServed(attack.run())
            attack.quietHours = 0
            Self.requireServed(attack.run())
        }
    }

    @Test("Without an order of groups the same bots leave most newcomers without a text")
    func withoutOrder() {
        var attack = SendAttack()
        attack.hours = 1
        attack.policy.thinnedFirstPerHour = attack.policy.thinnedPerHour
        #expect(attack.run().servedPercent < 30)
    }
}
