import Fixtures
import Foundation
import Testing

@testable import Domain
@testable import PhoneNumbers

@Suite("Floods from ever new accounts and addresses")
struct SendFloodTests {
    private typealias Requester = SendLedger.Requester
    private static let start = SendDay.start

    /// Lets ten an hour through, whoever asks.
    private static var policy: PhonePolicy {
        var policy = PhonePolicy()
        policy.thinnedFirstPerHour = 10
        return policy
    }

    private static func hostile(_ index: Int, of provider: ProviderID = Requester.firstProvider) -> Requester {
        Requester(user: "hostile \(index)", address: "hostile \(index)", provider: provider)
    }

    @Test("One on ever new prefixes wastes 50 texts until it is seen, and what the policy lets through from then on")
    func scattered() {
        var ledger = SendLedger(policy: Self.policy)
        var sent = [0, 0]
        for attempt in 0..<20_000 {
            let hour = attempt / 10_000
            let now = Self.start + Double(attempt % 10_000) * 0.3 + Double(hour) * 4000
            let number = SendDay.number(200_000 + attempt, 1)
            if ledger.ask(Self.hostile(attempt), number: number, now: now) == .sent { sent[hour] += 1 }
        }
        #expect(sent == [60, 60])
        #expect(ledger.thinned.count == 2 && ledger.thinned.allSatisfy { $0.hasPrefix("provider ") })
    }

    @Test("One through one provider leaves another provider's users, settled accounts and owners alone")
    func oneProvider() {
        var ledger = SendLedger(policy: PhonePolicy())
        for attempt in 0..<2000 {
            _ = ledger.ask(
                Self.hostile(attempt), number: SendDay.number(200_000 + attempt, 1),
                now: Self.start + Double(attempt))
        }
        #expect(ledger.thinned.count == 1)
        let now = Self.start + 2000
        for person in 0..<100 {
            let (user, address) = ("person \(person)", "198.51.\(person).1")
            let number = SendDay.number(700_000 + person, 1)
            let requester =
                switch person % 3 {
                case 0: Requester(user: user, address: address, provider: Requester.secondProvider)
                case 1: Requester(user: user, address: address, age: .settled)
                default: Requester(user: user, address: address, isOwner: true)
                }
            #expect(ledger.ask(requester, number: number, now: now + Double(person) * 60) == .sent, "\(person)")
            ledger.verify(requester, number: number)
        }
    }

    @Test("One through many providers thins a country out, and closes it neither to newcomers nor to owners")
    func country() {
        var ledger = SendLedger(policy: Self.policy)
        let providers = (0..<10).map { _ in ProviderID(UUID()) }
        var wasted = 0
        for attempt in 0..<2000 {
            let requester = Self.hostile(attempt, of: providers[attempt % 10])
            let number = SendDay.number(200_000 + attempt, 1)
            if ledger.ask(requester, number: number, now: Self.start + Double(attempt)) == .sent { wasted += 1 }
        }
        #expect(ledger.thinned == ["country US new"])
        #expect(wasted == 60)
        // The wave is over, and texts are still thinned out: whoever shows the code makes room for the next.
        var served = 0
        for person in 0..<20 {
            let requester = Requester(user: "person \(person)", address: "198.51.\(person).1")
            let number = SendDay.number(700_000 + person, 1)
            let now = Self.start + 3649 - Double(20 - person)
            if ledger.ask(requester, number: number, now: now) == .sent { served += 1 }
            ledger.verify(requester, number: number)
            let owner = Requester(user: "owner \(person)", address: "hostile \(person)", isOwner: true)
            #expect(ledger.ask(owner, number: SendDay.number(710_000 + person, 1), now: now) == .sent)
        }
        #expect(served == 20)
    }
}
