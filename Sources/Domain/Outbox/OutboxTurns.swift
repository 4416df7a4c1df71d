import Foundation

/// The queues of one kind with due messages, as a node knows them, and their order.
///
/// A node reads what has become due since its last reading, and remembers the owners. So it finds the messages of one
/// owner without scanning those of others or those already sent. While a snapshot of PostgreSQL exists, such as that of
/// a dump, an index keeps the entries of all sent messages.
package struct OutboxTurns: Sendable, Equatable {
    /// The queues with due messages, in the order of their turns.
    package private(set) var waiting: [Queue] = []
    /// The time up to which due messages were read; `nil` before the first reading.
    private(set) var seen: Date?

    /// Seconds of overlap between two readings, for transactions that commit later than their messages are due. Slower
    /// transactions are found by the next complete reading.
    static let overlap: TimeInterval = 2

    package init() {}
}

package extension OutboxTurns {
    /// Messages that are sent in order: those of an owner, or the events for a receiver.
    struct Queue: Sendable, Equatable {
        /// The owner, or the receiver's id.
        package let name: String
        /// A time before which no message of the queue is due.
        package let since: Date

        package init(name: String, since: Date) {
            (self.name, self.since) = (name, since)
        }
    }

    /// The time from which due messages must be read; `nil` for all of them.
    func start(now: Date) -> Date? {
        // After the clock was set back, messages that became due meanwhile would be missed.
        seen.flatMap { $0 > now ? nil : $0.addingTimeInterval(-Self.overlap) }
    }

    /// Adds the queues that a reading found, at the end.
    mutating func note(_ found: [Queue], at now: Date) {
        var earliest = Dictionary(found.map { ($0.name, $0.since) }, uniquingKeysWith: min)
        waiting = waiting.map { queue in
            guard let since = earliest.removeValue(forKey: queue.name) else { return queue }
            return Queue(name: queue.name, since: min(since, queue.since))
        }
        for queue in found {
            guard let since = earliest.removeValue(forKey: queue.name) else { continue }
            waiting.append(Queue(name: queue.name, since: since))
        }
        seen = now
    }

    /// The queue whose turn it is, and how many of its messages may be sent; `nil` if nothing is due.
    ///
    /// - Parameter places: the number of free slots.
    func next(places: Int) -> (queue: Queue, count: Int)? {
        guard places > 0, let queue = waiting.first else { return nil }
        return (queue, max(1, places / waiting.count))
    }

    /// Records the messages that were taken in a turn. The queue moves to the end, or is removed if it had fewer.
    mutating func took(_ dues: [Date], of turn: (queue: Queue, count: Int)) {
        waiting.removeAll { $0.name == turn.queue.name }
        guard dues.count >= turn.count else { return }
        waiting.append(Queue(name: turn.queue.name, since: dues.max() ?? turn.queue.since))
    }

    /// Replaces the queues by those that still have due messages.
    mutating func keep(_ queues: [Queue]) { waiting = queues }

    /// Keeps the newer of two readings that ran concurrently. Each contains all queues that were due at its time.
    mutating func merge(_ other: OutboxTurns) {
        guard let known = seen else {
            self = other
            return
        }
        if let seen = other.seen, seen >= known { self = other }
    }
}
