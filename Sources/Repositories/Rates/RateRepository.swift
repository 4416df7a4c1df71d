import Database
import Domain
import Encoding
import Foundation

/// Limits that apply across nodes: one time stamp for each key.
package struct RateRepository {
    private let transaction: any Transaction
}

package extension RateRepository {
    /// The places that an act took in the limits of its sender's networks.
    struct Places: Sendable {
        /// One place a line: for how many milliseconds it is taken, and the key.
        let text: String

        init(text: String) { self.text = text }

        init(_ taken: [(key: String, interval: TimeInterval)]) {
            text = taken.map { "\(Int64(saturating: ($0.interval * 1000).rounded(.down))) \($0.key)" }
                .joined(separator: "\n")
        }

        /// The keys, each with the milliseconds of its place.
        var taken: [(key: String, interval: Int64)] {
            text.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: " ", maxSplits: 1)
                guard parts.count == 2, let interval = Int64(parts[0]) else { return nil }
                return (String(parts[1]), interval)
            }
        }
    }

    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(Column<String>("key"), Column<Date>("arrival"))

    private func arrival(_ key: String) throws -> Date? {
        try transaction.value("SELECT arrival FROM rates WHERE key = $1", [.text(key)])
    }

    /// Counts an attempt in this transaction and decides on it. The count is kept only if this transaction commits. If
    /// refused attempts must count too, call it in a separate transaction, before work that may fail.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(_ key: String, limit: RateLimit) throws {
        try set(key, try admitted(key, limit: limit))
    }

    /// Decides on an attempt. It is counted by ``set(_:_:)`` with what this returns.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func admitted(_ key: String, limit: RateLimit) throws -> Date {
        switch limit.evaluate(arrival: try arrival(key), now: transaction.now) {
        case .refused(let retryAfter): throw Refusal.tooManyRequests(retryAfter: retryAfter)
        case .admitted(let next): return next
        }
    }

    /// Counts an attempt that was admitted.
    func set(_ key: String, _ arrival: Date) throws {
        try transaction.enqueue(
            """
            INSERT INTO rates (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (key) DO UPDATE SET arrival = excluded.arrival
            """, Self.columns.row(key, arrival))
    }

    /// Reads the times of some keys ahead of ``count(_:limit:)``.
    func lookAhead(_ keys: [String]) throws {
        for key in keys { _ = try arrival(key) }
    }

    /// Counts an attempt of a network address like ``count(_:limit:)``. Only the action and a keyed digest of the
    /// address are stored, so the store does not reveal addresses. A new version of the index key resets the limits.
    ///
    /// - Parameter limits: the limits of the address and of the networks around it.
    /// - Returns: the places that the attempt took. They become free after a correct code.
    /// - Throws: `Refusal` `rate_limited`.
    @discardableResult
    func count(
        _ act: SenderAct, from address: String, keys: PersonalKeys, limits: NetworkLimits
    ) throws -> Places {
        let limited = limits.counted(address).map { network, limit in
            (key: Self.key(act, from: network, keys: keys), limit: RateLimit(count: limit, per: SenderAct.period))
        }
        for (key, limit) in limited { try count(key, limit: limit) }
        return Places(limited.map { ($0.key, $0.limit.period / Double($0.limit.count)) })
    }

    /// Frees places. A limit never admits more than its burst: a time in the past is treated like none.
    func giveBack(_ places: Places) throws {
        for (key, interval) in places.taken {
            try transaction.enqueue(
                "UPDATE rates SET arrival = arrival - $2 WHERE key = $1", [.text(key), .integer(interval)])
        }
    }

    /// The keys for an action of a network address.
    static func keys(
        _ act: SenderAct, from address: String, keys: PersonalKeys, limits: NetworkLimits
    ) -> [String] {
        limits.counted(address).map { key(act, from: $0.key, keys: keys) }
    }

    private static func key(_ act: SenderAct, from network: String, keys: PersonalKeys) -> String {
        let digest = keys.blindIndex(network, .networkAddress).bytes.prefix(16)
        return "\(act.rawValue) \(Base64URL.encode(Array(digest)))"
    }

    /// Counts an attempt like ``count(_:limit:)``, but exactly: never more than the limit's count in any period of its
    /// length. Each slot stays occupied for a whole period.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func countExactly(_ key: String, limit: RateLimit) throws {
        var soonest: Refusal?
        for place in 0..<limit.count {
            do {
                return try count("\(key) \(place)", limit: RateLimit(count: 1, per: limit.period))
            } catch let refusal as Refusal where refusal.code == .rateLimited {
                if refusal.retryAfter ?? .max < soonest?.retryAfter ?? .max { soonest = refusal }
            }
        }
        if let soonest { throw soonest }
    }

    /// Refuses if ``count(_:limit:)`` would. It does not count the attempt, and is used before expensive work.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func requireRoom(_ key: String, limit: RateLimit) throws {
        _ = try admitted(key, limit: limit)
    }

    private static let old = AgedRows(of: "rates", key: "key", age: "arrival")

    /// Deletes keys whose time has passed. They are like new keys.
    @discardableResult
    func purge(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }
}
