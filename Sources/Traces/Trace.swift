import Tracing

/// The trace of a task, and the tracer that records it.
package struct Trace: Sendable {
    package let parent: TraceParent
    /// `nil` if the trace is not recorded, only passed on.
    package let tracer: SpanTracer?

    package init(parent: TraceParent, tracer: SpanTracer?) {
        (self.parent, self.tracer) = (parent, tracer)
    }

    /// The trace of the current task; `nil` if it has none.
    package static var current: Trace? { ServiceContext.current?.trace }
}

extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
        typealias Value = Trace
    }

    var trace: Trace? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }

    /// A context that contains only a trace.
    package static func of(_ trace: Trace?) -> ServiceContext {
        var context = ServiceContext.topLevel
        context.trace = trace
        return context
    }
}
