import Tracing

/// The trace in which a task works, and who records it.
package struct Trace: Sendable {
    /// Whose children the next spans are.
    package let parent: TraceParent
    /// `nil` where nothing is recorded: the trace is only passed on.
    package let tracer: SpanTracer?

    package init(parent: TraceParent, tracer: SpanTracer?) {
        (self.parent, self.tracer) = (parent, tracer)
    }

    /// That of the present task; `nil` if it is part of none.
    package static var current: Trace? { ServiceContext.current?.trace }
}

extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
        typealias Value = Trace
    }

    package var trace: Trace? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }

    /// A context of a trace and nothing else.
    package static func of(_ trace: Trace?) -> ServiceContext {
        var context = ServiceContext.topLevel
        context.trace = trace
        return context
    }
}
