import Foundation

/// Whose messages of one kind are due, as a node knows, and whose turn is next.
///
/// A node reads what has become due since it last looked, and remembers whose it was. So it finds the message of one
/// owner without walking those of another, and walks none that was sent: while somebody holds a snapshot of PostgreSQL,
/// such as a dump, an index keeps the entries of all that were sent since.
package struct OutboxTurns: Sendable, Equatable {
    /// Messages that are sent one after the other: an owner's, or the events for a receiver.
    package struct Queue: Sendable, Equatable {
        /// The owner, or the receiver's id.
        package let name: String
        /// No message of it that could be sent is due before.
        package let since: Date

        package init(name: String, since: Date) {
            (self.name, self.since) = (name, since)
        }
    }

    /// The queues with something due, in the order of their turns.
    package private(set) var waiting: [Queue] = []
    /// All that was due then has been looked at; `nil` if nothing has.
    package private(set) var seen: Date?

    /// A transaction may commit for so long after its time what is due at its time, seconds. What takes longer is found
    /// when everything is looked at again.
    static let overlap: TimeInterval = 2

    package init() {}

    /// From when on what is due must be looked at; `nil` for all of it.
    package func start(now: Date) -> Date? {
        // A clock that was set back would hide what is due meanwhile.
        seen.flatMap { $0 > now ? nil : $0.addingTimeInterval(-Self.overlap) }
    }

    /// Notes the queues that a look has found. New ones come last.
    package mutating func note(_ found: [Queue], at now: Date) {
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

    /// Whose turn it is, and how many messages may be taken if so many places are free; `nil` if nothing is due.
    package func next(places: Int) -> (queue: Queue, count: Int)? {
        guard places > 0, let queue = waiting.first else { return nil }
        return (queue, max(1, places / waiting.count))
    }

    /// Notes what was taken in a turn. The queue comes last now, or is done with if it had fewer.
    package mutating func took(_ dues: [Date], of turn: (queue: Queue, count: Int)) {
        waiting.removeAll { $0.name == turn.queue.name }
        guard dues.count >= turn.count else { return }
        waiting.append(Queue(name: turn.queue.name, since: dues.max() ?? turn.queue.since))
    }

    /// Keeps the queues that still have something due.
    package mutating func keep(_ queues: [Queue]) { waiting = queues }

    /// The newer of two views that were taken at once: neither has lost a queue that was due when it last looked.
    package mutating func merge(_ other: OutboxTurns) {
        guard let known = seen else {
            self = other
            return
        }
        if let seen = other.seen, seen >= known { self = other }
    }
}
