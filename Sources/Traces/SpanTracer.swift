import Tracing

/// Makes spans and adds ended ones to a queue.
///
/// A span belongs to the trace of its context. A span without a trace begins a new one and is recorded. If a caller
/// does not record its trace, this service does not record it either.
package final class SpanTracer: Tracer {
    package let queue: SpanQueue

    package init(queue: SpanQueue) {
        self.queue = queue
    }
}

package extension SpanTracer {
    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.trace?.parent
        let own = TraceParent(
            traceID: parent?.traceID ?? .init(high: .random(in: 1 ... .max), low: .random(in: .min ... .max)),
            spanID: .random(in: 1 ... .max), isSampled: parent?.isSampled ?? true)
        context.trace = Trace(parent: own, tracer: self)
        return RecordedSpan(
            operationName, context, own, parentID: parent?.spanID, kind, start: instant().nanosecondsSinceEpoch,
            queue: queue)
    }

    /// Does nothing: ``SpanExporter`` sends the queue's spans.
    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Carrier == Inject.Carrier {
        guard let parent = context.trace?.parent else { return }
        injector.inject(parent.description, forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Carrier == Extract.Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier).flatMap({ TraceParent($0) }) else {
            return
        }
        context.trace = Trace(parent: parent, tracer: self)
    }

    /// Records a span that has already ended.
    ///
    /// - Parameter elapsed: nanoseconds.
    func record(
        _ name: String, in trace: Trace?, ofKind kind: SpanKind, elapsed: UInt64, attributes: SpanAttributes
    ) {
        let end = DefaultTracerClock.now.nanosecondsSinceEpoch
        let start = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end > elapsed ? end - elapsed : 0)
        let span = startSpan(name, context: .of(trace), ofKind: kind, at: start)
        guard span.isRecording else { return }
        span.attributes = attributes
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
    }
}

/// Runs a body in a new trace with one span; without a tracer it just runs it.
package func withTrace<T: Sendable>(
    _ name: String, by tracer: SpanTracer?, attributes: SpanAttributes = [:], _ work: () async -> T
) async -> T {
    guard let tracer else { return await work() }
    let span = tracer.startSpan(name, context: .topLevel, ofKind: .producer)
    span.attributes = attributes
    defer { span.end() }
    return await ServiceContext.withValue(span.context) { await work() }
}
