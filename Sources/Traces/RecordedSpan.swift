import Synchronization
import Tracing

/// A span under way. When it ends, it is added to the queue once.
package final class RecordedSpan: Tracing.Span {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var hasFailed = false
        var isOver = false
    }

    package let context: ServiceContext
    package let identity: TraceParent
    private let parentID: UInt64?
    private let kind: SpanKind
    private let start: UInt64
    private let queue: SpanQueue
    private let state: Mutex<State>

    init(
        _ name: String, _ context: ServiceContext, _ identity: TraceParent, parentID: UInt64?, _ kind: SpanKind,
        start: UInt64, queue: SpanQueue
    ) {
        (self.context, self.identity, self.parentID) = (context, identity, parentID)
        (self.kind, self.start, self.queue) = (kind, start, queue)
        state = Mutex(State(name: name))
    }
}

package extension RecordedSpan {
    var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    var isRecording: Bool { identity.isSampled && state.withLock { !$0.isOver } }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.hasFailed = status.code == .error } }

    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        // The error's text belongs in the log, not in the trace.
        state.withLock { $0.hasFailed = true }
    }

    /// Does nothing: events are not recorded.
    func addEvent(_ event: SpanEvent) {}

    /// Does nothing: links are not recorded.
    func addLink(_ link: SpanLink) {}

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard identity.isSampled else { return }
        let end = instant().nanosecondsSinceEpoch
        let ended = state.withLock { state -> EndedSpan? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return EndedSpan(
                identity: identity, parentID: parentID, name: state.name, kind: kind, start: start,
                end: max(start, end), attributes: state.attributes, hasFailed: state.hasFailed)
        }
        if let ended { queue.add(ended) }
    }
}
