import Domain
import Encoding
import Foundation
import Testing

@testable import API

@Suite("The budget of unread responses")
struct ResponseBudgetTests {
    private typealias Budget = ResponseBudget<Int>

    private static let devices = (0..<3).map { Digest256.of("device \($0)") }
    private static let users = (0..<3).map { _ in UserID(UUID()) }

    private func budget() -> Budget { Budget(limits: .limits(connection: 10, certificate: 30, user: 50, total: 70)) }

    private func owner(_ connection: Int, device: Int? = nil, user: Int? = nil) -> Budget.Owner {
        Budget.Owner(
            connection: connection, certificate: device.map { Self.devices[$0] }, user: user.map { Self.users[$0] })
    }

    @Test("lets the large responses of a connection be made one after the other, in the order of arrival")
    func turns() {
        var budget = budget()
        let first = budget.claim(8, for: owner(1))
        let others = [9, 1, 1].map { budget.claim($0, for: owner(1)) }
        #expect(first.verdict == .granted && others.map(\.verdict) == [.waits, .waits, .waits])
        // Who waits counts for nobody.
        #expect(budget.total == 8 && budget.waiting == 3)
        #expect(budget.claim(10, for: owner(2)).verdict == .granted)
        #expect(budget.end(first.id) == [others[0], others[1]].map { .init(id: $0.id, verdict: .granted) })
        #expect(budget.end(others[0].id) == [.init(id: others[2].id, verdict: .granted)])
        #expect(budget.total == 12 && budget.waiting == 0)
    }

    @Test("counts a response as what it turned out to be, so that small ones are made at once")
    func settled() {
        var budget = budget()
        let first = budget.claim(10, for: owner(1))
        let second = budget.claim(9, for: owner(1))
        #expect(budget.settle(second.id, at: 1) == [], "one that waits has no size yet")
        #expect(budget.settle(first.id, at: 1) == [.init(id: second.id, verdict: .granted)])
        #expect(budget.total == 10)
        #expect(budget.settle(first.id, at: 400) == [] && budget.total == 409)
        #expect(budget.claim(1, for: owner(2)).verdict == .refused(.total))
    }

    @Test("refuses beyond the limits of a certificate, of a user and of all, and nobody for those of others")
    func levels() {
        var budget = budget()
        let claims = (0..<3).map { budget.claim(10, for: owner($0, device: 0, user: 0)) }
        #expect(claims.map(\.verdict) == [.granted, .granted, .granted])
        #expect(budget.claim(1, for: owner(3, device: 0, user: 0)).verdict == .refused(.certificate))
        #expect(budget.claim(10, for: owner(4, device: 1, user: 0)).verdict == .granted)
        #expect(budget.claim(10, for: owner(5, device: 1, user: 0)).verdict == .granted)
        #expect(budget.claim(1, for: owner(6, device: 1, user: 0)).verdict == .refused(.user))
        #expect(budget.claim(10, for: owner(7, device: 2, user: 1)).verdict == .granted)
        #expect(budget.claim(10, for: owner(8)).verdict == .granted)
        #expect(budget.claim(1, for: owner(9)).verdict == .refused(.total))
        #expect(budget.total == 70)
        _ = budget.end(claims[0].id)
        #expect(budget.claim(10, for: owner(9)).verdict == .granted)
    }

    @Test("judges one that waited when its turn comes, and goes on to the next if it is refused")
    func refusedLater() {
        var budget = budget()
        let first = budget.claim(10, for: owner(1, device: 0))
        let others = [30, 10].map { budget.claim($0, for: owner(1, device: 0)) }
        _ = (2...3).map { budget.claim(10, for: owner($0, device: 0)) }
        #expect(
            budget.end(first.id) == [
                .init(id: others[0].id, verdict: .refused(.certificate)), .init(id: others[1].id, verdict: .granted),
            ])
    }

    @Test("leaves most of the total to others, whatever one provider, one address and one network claim")
    func shares() {
        let policy = Policy().requests
        let limits = Budget.Limits(of: policy, isLimited: true)
        #expect(limits.provider <= policy.unsentTotal / 8 && limits.networks.perAddress <= policy.unsentTotal / 4)
        #expect(limits.networks.per56 < limits.networks.per48 && limits.networks.per48 <= policy.unsentTotal / 2)
        let page = 262_144
        var budget = Budget(limits: limits)
        let provider = ProviderID(UUID())
        for connection in 0..<1024 {
            _ = budget.claim(page, for: .init(connection: connection, provider: provider))
        }
        #expect(budget.total == limits.provider)
        for connection in 1024..<2048 {
            let address = "32.1.13.184.0.1.\(connection % 256).\(connection % 4)/64"
            _ = budget.claim(page, for: .init(connection: connection, address: address))
        }
        #expect(budget.total == limits.provider + limits.networks.per48)
        #expect(budget.claim(page, for: owner(2048, device: 0, user: 0)).verdict == .granted)
    }

    @Test("grants the largest one to who holds nothing, and ends each once")
    func ends() {
        var budget = budget()
        let large = budget.claim(1000, for: owner(1, device: 0, user: 0))
        let waiting = budget.claim(1, for: owner(1))
        let last = budget.claim(1, for: owner(1))
        #expect(large.verdict == .granted && budget.total == 1000)
        #expect(budget.end(waiting.id) == [], "one that waits is given up")
        #expect(budget.end(large.id) == [.init(id: last.id, verdict: .granted)])
        #expect(budget.end(large.id) == [] && budget.total == 1)
        #expect(budget.end(last.id) == [] && budget.total == 0 && budget.waiting == 0)
    }
}
