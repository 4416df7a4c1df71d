import Domain
import Encoding
import Foundation
import Testing

@testable import Operations

@Suite("How often callers have called of late")
struct CallRatesTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let limit = RateLimit(count: 3, per: 60)

    private func count(
        _ rates: CallRates, _ cost: CallCost = .read, by caller: CountedCaller, after seconds: TimeInterval = 0
    ) throws {
        try rates.count(cost, by: caller, limit: Self.limit, now: Self.now + seconds)
    }

    @Test("is held to a burst, and then to one call each time that the limit gives back")
    func burst() throws {
        let (rates, caller) = (CallRates(), CountedCaller.user(UserID(UUID())))
        for _ in 0..<3 { try count(rates, by: caller) }
        let refusal = #expect(throws: Refusal(.rateLimited, "")) { try count(rates, by: caller) }
        #expect(refusal?.retryAfter == 20)
        try count(rates, by: caller, after: 20)
        #expect(throws: Refusal(.rateLimited, "")) { try count(rates, by: caller, after: 20) }
        // A pause gives all of them back.
        for _ in 0..<3 { try count(rates, by: caller, after: 120) }
        #expect(throws: Refusal(.rateLimited, "")) { try count(rates, by: caller, after: 120) }
        // A clock that was set back by far does not lock anybody out.
        try count(rates, by: caller, after: -3600)
    }

    @Test("is counted for each caller and each cost alone")
    func apart() throws {
        let (rates, id) = (CallRates(), UUID())
        let callers: [CountedCaller] = [
            .user(UserID(id)), .provider(ProviderID(id)), .certificate(.of("a")), .certificate(.of("b")),
            .address("192.0.2.1"), .address("192.0.2.2"),
        ]
        for caller in callers {
            for cost in [CallCost.read, .write, .heavy] {
                for _ in 0..<3 { try count(rates, cost, by: caller) }
                #expect(throws: Refusal(.rateLimited, "")) { try count(rates, cost, by: caller) }
            }
        }
    }

    @Test("is remembered of so many callers at most")
    func bounded() throws {
        let rates = CallRates(capacity: 8)
        for number in 0..<2000 {
            try count(rates, by: .address("\(number)"))
            #expect(rates.count <= 16 * 8)
        }
    }

    @Test("is forgotten first of those who could call as often as they like")
    func room() throws {
        let rates = CallRates(capacity: 64)
        for number in 0..<3000 { try count(rates, by: .address("\(number)")) }
        let busy = CountedCaller.address("busy")
        for _ in 0..<3 { try count(rates, by: busy, after: 100) }
        for number in 0..<16 { try count(rates, by: .address("late \(number)"), after: 100) }
        #expect(throws: Refusal(.rateLimited, "")) { try count(rates, by: busy, after: 100) }
    }

    @Test("is counted for the networks around an address too, twice and eight times as often")
    func networks() throws {
        let rates = CallRates()
        func calls(_ addresses: some Sequence<String>) -> Int {
            addresses.count { address in (try? count(rates, by: .address(address))) != nil }
        }
        func network(_ sixth: Int, _ seventh: Int, _ eighth: Int) -> String {
            "32.1.13.184.0.\(sixth).\(seventh).\(eighth)/64"
        }
        #expect(calls((0..<20).map { _ in network(1, 0, 0) }) == 3)
        #expect(calls((0..<20).map { network(1, 0, $0) }) == 3, "the rest of the /56")
        #expect(calls((0..<200).map { network(1, 1 + $0, 0) }) == 18, "the rest of the /48")
        #expect(calls((0..<200).map { network(2, $0, 0) }) == 24, "another /48")
        #expect(calls((0..<20).map { "192.0.2.\($0)" }) == 20)
    }

    @Test("is forgotten of no user, certificate or provider because of many addresses")
    func separate() throws {
        let (rates, id) = (CallRates(capacity: 8), UUID())
        let callers: [CountedCaller] = [.user(UserID(id)), .provider(ProviderID(id)), .certificate(.of("a"))]
        for caller in callers { for _ in 0..<3 { try count(rates, by: caller) } }
        for number in 0..<2000 { try count(rates, by: .address("\(number)")) }
        for caller in callers {
            #expect(throws: Refusal(.rateLimited, ""), "\(caller)") { try count(rates, by: caller) }
        }
    }

    @Test("is not stored of the addresses of a network beyond its limit")
    func beyond() throws {
        let rates = CallRates()
        for number in 0..<1000 { try? count(rates, by: .address("32.1.13.184.0.1.\(number % 256).\(number)/64")) }
        #expect(rates.count <= 24 * 2 + 1)
    }
}
