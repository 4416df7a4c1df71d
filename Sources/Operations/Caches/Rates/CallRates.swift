import Domain
import Encoding
import Foundation
import Synchronization

/// The recent calls of callers on this node. For each caller and cost only one time is stored, and none for callers who
/// could make a full burst of calls again.
///
/// Addresses have a table of their own. Anybody can call from many of them, and a full shard is emptied. This must not
/// reset the limits of users, certificates and providers.
final class CallRates: Sendable {
    private struct Key: Hashable {
        let caller: CountedCaller
        let cost: CallCost
    }

    private final class Shard: Sendable {
        let arrivals = Mutex<[Key: Date]>([:])
    }

    private let proven = (0..<16).map { _ in Shard() }
    private let addresses = (0..<16).map { _ in Shard() }
    private let capacity: Int

    /// - Parameter capacity: the maximum number of callers and costs in each of the 16 shards of a table.
    init(capacity: Int = 4096) {
        self.capacity = capacity
    }

    /// Counts a call against the limit of its cost. A call from an address is also counted for the networks around
    /// it.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(_ cost: CallCost, by caller: CountedCaller, limit: RateLimit, now: Date) throws(Refusal) {
        guard case .address(let address) = caller else {
            return try count(Key(caller: caller, cost: cost), in: proven, limit, now)
        }
        let networks = Self.networks(of: address, limit).map { network, limit in
            (key: Key(caller: .address(network), cost: cost), limit: limit)
        }
        // The addresses of a network beyond its limit are not added to the table.
        for (key, limit) in networks.dropFirst().reversed() { try require(key, limit, now) }
        for (key, limit) in networks { try count(key, in: addresses, limit, now) }
    }

    /// The keys of an address and of the networks around it, each with its limit.
    private static func networks(of address: String, _ limit: RateLimit) -> [(key: String, limit: RateLimit)] {
        func times(_ factor: Double) -> Int { Int(saturating: Double(limit.count) * factor) }
        return NetworkLimits(perAddress: limit.count, per56: times(2), per48: times(8)).counted(address)
            .map { ($0.key, RateLimit(count: $0.limit, per: limit.period)) }
    }

    private func shard(of key: Key, in table: [Shard]) -> Shard {
        table[Int(UInt(bitPattern: key.hashValue) % UInt(table.count))]
    }

    private func count(_ key: Key, in table: [Shard], _ limit: RateLimit, _ now: Date) throws(Refusal) {
        let verdict = shard(of: key, in: table).arrivals.withLock { arrivals in
            let arrival = arrivals[key]
            let verdict = limit.evaluate(arrival: arrival, now: now)
            guard case .admitted(let next) = verdict else { return verdict }
            if arrival == nil, arrivals.count >= capacity { makeRoom(in: &arrivals, now: now) }
            arrivals[key] = next
            return verdict
        }
        guard case .refused(let retryAfter) = verdict else { return }
        throw Refusal.tooManyCalls(cost: key.cost.rawValue, retryAfter: retryAfter)
    }

    /// Requires that a network may make another call, without counting it.
    private func require(_ key: Key, _ limit: RateLimit, _ now: Date) throws(Refusal) {
        let arrival = shard(of: key, in: addresses).arrivals.withLock { $0[key] }
        guard case .refused(let retryAfter) = limit.evaluate(arrival: arrival, now: now) else { return }
        throw Refusal.tooManyCalls(cost: key.cost.rawValue, retryAfter: retryAfter)
    }

    /// Drops callers who could make a full burst again. If there are too few of them, so many callers exist that limits
    /// for each are useless. Then all are dropped, so that the next call does not scan the table again.
    private func makeRoom(in arrivals: inout [Key: Date], now: Date) {
        arrivals = arrivals.filter { $0.value > now }
        if arrivals.count > capacity / 2 { arrivals = [:] }
    }

    /// The number of stored callers and costs.
    var count: Int { (proven + addresses).reduce(0) { $0 + $1.arrivals.withLock { $0.count } } }
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
