import Domain
import Foundation

/// The events that wait for one receiver, and the attempts in progress.
struct ReceiverQueue: Sendable, Equatable {
    /// The provider's id for a webhook, or the id of a stream.
    let receiver: String
    /// The provider that the webhook or stream belongs to.
    let owner: String
    /// When the first event without a lease is due; `nil` if all are leased.
    let due: Date?
    /// The number of attempts in progress, on all nodes.
    let underWay: Int
    let breaker: ReceiverBreaker
}

extension ReceiverQueue {
    /// The queue after attempts have started.
    ///
    /// - Parameter isLast: whether no more events are due.
    func started(_ count: Int, isLast: Bool) -> ReceiverQueue {
        ReceiverQueue(
            receiver: receiver, owner: owner, due: isLast ? nil : due, underWay: underWay + count, breaker: breaker)
    }

    private var order: (Date, String) { (due ?? .distantFuture, receiver) }

    /// How many attempts may start now at each receiver, at most `count` in total. Receivers whose events are due for
    /// longest come first. A provider with many streams gets no more turns than a provider with a webhook.
    static func starts(
        among queues: [ReceiverQueue], count: Int, now: Date
    ) -> [(receiver: String, count: Int)] {
        var places = Places(queues)
        var turns = Dictionary(queues.map { ($0.owner, $0.underWay) }, uniquingKeysWith: +)
        let due = queues.filter { ($0.due ?? .distantFuture) <= now }.sorted { $0.order < $1.order }.map { queue in
            defer { turns[queue.owner, default: 0] += ReceiverBreaker.inFlight }
            return (turn: turns[queue.owner, default: 0], queue: queue)
        }.sorted { ($0.turn, $0.queue.order.0, $0.queue.order.1) < ($1.turn, $1.queue.order.0, $1.queue.order.1) }
        var starts: [(receiver: String, count: Int)] = []
        var rest = count
        for (_, queue) in due where rest > 0 {
            let started = min(rest, places.free(for: queue, now: now))
            guard started > 0 else { continue }
            starts.append((queue.receiver, started))
            places.take(started, for: queue)
            rest -= started
        }
        return starts
    }

    /// When the next attempt may start; `nil` if a current one must end first, or nothing waits.
    static func next(among queues: [ReceiverQueue], after now: Date) -> Date? {
        let places = Places(queues)
        return queues.compactMap { queue in
            let start = max(now, queue.breaker.pausedUntil ?? .distantPast)
            guard let due = queue.due, places.free(for: queue, now: start) > 0 else { return nil }
            return max(due, queue.breaker.pausedUntil ?? .distantPast)
        }.min()
    }

    /// The largest number of concurrent attempts at all receivers of one provider.
    private static var placesOfOwner: Int {
        if case .places(let count) = OutboxKind.providerEvent.share { count } else { 0 }
    }

    /// The free slots that receivers share: those of all failing receivers, and those of each provider.
    private struct Places {
        private var failing = ReceiverBreaker.inFlightToFailing
        private var ofOwners: [String: Int] = [:]

        init(_ queues: [ReceiverQueue]) {
            for queue in queues { take(queue.underWay, for: queue) }
        }

        func free(for queue: ReceiverQueue, now: Date) -> Int {
            let ofOwner = ofOwners[queue.owner, default: ReceiverQueue.placesOfOwner]
            let free = min(queue.breaker.available(besides: queue.underWay, now: now), ofOwner)
            return max(0, queue.breaker.failures > 0 ? min(free, failing) : free)
        }

        mutating func take(_ count: Int, for queue: ReceiverQueue) {
            ofOwners[queue.owner, default: ReceiverQueue.placesOfOwner] -= count
            if queue.breaker.failures > 0 { failing -= count }
        }
    }
}
