import HTTPTypes
import Traces
import Tracing

/// The span of a request, named by OpenTelemetry's conventions for HTTP.
extension ListenerFace {
    /// Ends the span of a response. A request without a span gets one now.
    func end(_ outcome: Outcome, id: String, by tracer: SpanTracer) {
        let method = RequestMeasurements.label(of: outcome.method, outcome.route)
        let name = "\(method) \(outcome.route)"
        var attributes: SpanAttributes = [
            "http.request.method": .string(method), "http.route": .string(outcome.route),
            "http.response.status_code": .int64(Int64(outcome.status.code)),
            "countersign.listener": .string(self.name.rawValue), "countersign.request_id": .string(id),
        ]
        if let problem = outcome.problem { attributes.set("countersign.code", value: .string(problem.code)) }
        guard let span = outcome.span else {
            let trace = outcome.trace.map { Trace(parent: $0, tracer: tracer) }
            return tracer.record(
                name, in: trace, ofKind: .server, elapsed: UInt64(clamping: outcome.elapsed.nanoseconds),
                attributes: attributes)
        }
        span.operationName = name
        span.attributes = attributes
        if outcome.status.code >= 500 { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }
}

extension HTTPFields {
    /// The trace in the client's `traceparent`; `nil` if it is missing or malformed.
    var traceParent: TraceParent? { self[.traceParent].flatMap { TraceParent($0) } }
}

extension HTTPField.Name {
    fileprivate static let traceParent = known("traceparent")
}
