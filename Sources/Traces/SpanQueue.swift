import Synchronization

/// Ended spans that wait to be sent. Adding one never waits: if the queue is full, the span is dropped and counted.
package final class SpanQueue: Sendable {
    private let limit: Int
    private let onDrop: @Sendable (Int) -> Void
    private let waiting = Mutex<[EndedSpan]>([])

    /// - Parameter onDrop: called with the number of spans that were dropped.
    package init(limit: Int = 8192, onDrop: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.limit = limit
        self.onDrop = onDrop
    }

    var count: Int { waiting.withLock { $0.count } }

    func add(_ span: EndedSpan) {
        let isTaken = waiting.withLock { waiting in
            guard waiting.count < limit else { return false }
            waiting.append(span)
            return true
        }
        if !isTaken { onDrop(1) }
    }

    func take(atMost count: Int) -> [EndedSpan] {
        waiting.withLock { waiting in
            let taken = Array(waiting.prefix(count))
            waiting.removeFirst(taken.count)
            return taken
        }
    }

    func drop(_ count: Int) { onDrop(count) }
}
