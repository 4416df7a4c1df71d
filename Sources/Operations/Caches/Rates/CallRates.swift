import Domain
import Foundation
import Synchronization

/// How often callers have called of late, as this process has seen it. One moment is all that is remembered of a caller
/// and a cost, and nothing of whoever could make a full burst of calls again.
final class CallRates: Sendable {
    private struct Key: Hashable {
        let caller: CountedCaller
        let cost: CallCost
    }

    private final class Shard: Sendable {
        let arrivals = Mutex<[Key: Date]>([:])
    }

    private let shards = (0..<16).map { _ in Shard() }
    private let capacity: Int

    /// - Parameter capacity: how many callers and costs each of the 16 parts remembers at most.
    init(capacity: Int = 4096) {
        self.capacity = capacity
    }

    /// Counts a call against the limit of its cost.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(_ cost: CallCost, by caller: CountedCaller, limit: RateLimit, now: Date) throws(Refusal) {
        let key = Key(caller: caller, cost: cost)
        let shard = shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))]
        let verdict = shard.arrivals.withLock { arrivals in
            let arrival = arrivals[key]
            let verdict = limit.evaluate(arrival: arrival, now: now)
            guard case .admitted(let next) = verdict else { return verdict }
            if arrival == nil, arrivals.count >= capacity { makeRoom(in: &arrivals, now: now) }
            arrivals[key] = next
            return verdict
        }
        guard case .refused(let retryAfter) = verdict else { return }
        throw Refusal.tooManyCalls(cost: cost.rawValue, retryAfter: retryAfter)
    }

    /// Forgets whoever need not be remembered. If those are too few, so many call at once that a limit for each of them
    /// does not help: then all are forgotten, so that the next call does not walk the table again.
    private func makeRoom(in arrivals: inout [Key: Date], now: Date) {
        arrivals = arrivals.filter { $0.value > now }
        if arrivals.count > capacity / 2 { arrivals = [:] }
    }

    /// How many callers and costs are remembered.
    var count: Int { shards.reduce(0) { $0 + $1.arrivals.withLock { $0.count } } }
}

/// The attempts of one caller at one act, as this process has seen them.
final class RecentAttempts: Sendable {
    private let arrival = Mutex<Date?>(nil)
    private let attempts: String

    /// - Parameter attempts: what was attempted, in the plural.
    init(_ attempts: String) {
        self.attempts = attempts
    }

    /// Counts an attempt against a limit.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(limit: RateLimit, now: Date) throws(Refusal) {
        let verdict = arrival.withLock { arrival in
            let verdict = limit.evaluate(arrival: arrival, now: now)
            if case .admitted(let next) = verdict { arrival = next }
            return verdict
        }
        if case .refused(let retryAfter) = verdict {
            throw Refusal.tooMany(attempts, retryAfter: retryAfter)
        }
    }
}
