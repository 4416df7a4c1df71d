import Domain
import Foundation
import Synchronization

/// The recent calls of callers on this node. For each caller and cost only one time is stored, and none for callers who
/// could make a full burst of calls again.
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

    /// - Parameter capacity: the maximum number of callers and costs in each of the 16 shards.
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

    /// Drops callers who could make a full burst again. If there are too few of them, so many callers exist that limits
    /// for each are useless. Then all are dropped, so that the next call does not scan the table again.
    private func makeRoom(in arrivals: inout [Key: Date], now: Date) {
        arrivals = arrivals.filter { $0.value > now }
        if arrivals.count > capacity / 2 { arrivals = [:] }
    }

    /// The number of stored callers and costs.
    var count: Int { shards.reduce(0) { $0 + $1.arrivals.withLock { $0.count } } }
}

/// The recent attempts of one caller at one action, on this node.
final class RecentAttempts: Sendable {
    private let arrival = Mutex<Date?>(nil)
    private let attempts: String

    /// - Parameter attempts: a plural noun for the attempts.
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
