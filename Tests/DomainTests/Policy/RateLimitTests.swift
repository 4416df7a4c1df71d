import Domain
import Foundation
import Testing

@Suite("A rate limit")
struct RateLimitTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test("admits a burst of its size, refuses the next, and says when to come back")
    func burst() {
        let limit = RateLimit(count: 30, per: 3600)
        var arrival: Date?
        for _ in 0..<30 {
            guard case .admitted(let next) = limit.evaluate(arrival: arrival, now: start) else {
                Issue.record("refused within the burst")
                return
            }
            arrival = next
        }
        #expect(limit.evaluate(arrival: arrival, now: start) == .refused(retryAfter: 120))
        guard case .admitted = limit.evaluate(arrival: arrival, now: start.addingTimeInterval(120)) else {
            Issue.record("refused after the wait that it named")
            return
        }
    }

    @Test("never admits more than its count and the refill in any stretch of time")
    func bound() {
        let limit = RateLimit(count: 5, per: 10)
        var arrival: Date?
        var admitted = 0
        for tick in 0..<1000 {
            if case .admitted(let next) = limit.evaluate(
                arrival: arrival, now: start.addingTimeInterval(Double(tick) / 10))
            {
                arrival = next
                admitted += 1
            }
        }
        #expect((50...55).contains(admitted))
    }

    @Test("forgets what a clock stored that was ahead, and is set right")
    func clockSetBack() {
        let limit = RateLimit(count: 2, per: 10)
        let ahead = start.addingTimeInterval(3600)
        guard case .admitted(let arrival) = limit.evaluate(arrival: nil, now: ahead) else {
            Issue.record("the first attempt was refused")
            return
        }
        #expect(limit.evaluate(arrival: arrival, now: start) == limit.evaluate(arrival: nil, now: start))
        #expect(limit.evaluate(arrival: start.addingTimeInterval(10), now: start) == .refused(retryAfter: 5))
    }
}
