import Domain
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import Operations
import Traces
import Tracing

/// What all responses of a listener share, including those without a route: its name, the realm, its counters, its log,
/// and the URLs of the listeners.
struct ListenerFace: Sendable {
    let name: ListenerName
    let realm: String
    let directory: RouteDirectory
    /// The external URL of a listener; `nil` for the ops listener, which has none.
    let urls: @Sendable (ListenerName) -> String?
    let logger: Logger
    /// The memory for responses that clients have not read.
    var accounts: ResponseAccounts
    /// Records a span of each request; `nil` if no spans are collected.
    let tracer: SpanTracer?
    private let environment: Operations.Environment
    private let measurements: RequestMeasurements

    init(
        name: ListenerName, realm: String, directory: RouteDirectory,
        urls: @escaping @Sendable (ListenerName) -> String?,
        tracer: SpanTracer?, accounts: ResponseAccounts, environment: Operations.Environment, logger: Logger
    ) {
        self.environment = environment
        self.accounts = accounts
        self.tracer = tracer
        self.name = name
        self.realm = realm
        self.directory = directory
        self.urls = urls
        self.logger = logger
        measurements = RequestMeasurements(listener: name.rawValue)
    }

    func newConnectionID() -> ConnectionID { environment.newIdentifier() }

    func newRequestIDs() -> RequestIDs { RequestIDs(of: environment.newUUID()) }

    struct Outcome {
        let method: HTTPRequest.Method
        let route: String
        let status: HTTPResponse.Status
        let elapsed: Duration
        var problem: Problem?
        var cause: (any Error)?
        var parties = RequestParties()
        /// The client's trace, or the one of ``span``.
        var trace: TraceParent?
        /// The request's span; `nil` if nothing in the request had to wait.
        var span: RecordedSpan?

        /// Whether the service failed. Status 501 reports a method that the service does not know, which is the caller's error.
        var isFailure: Bool { status.code >= 500 && status != .notImplemented }
    }

    /// Where a listener is, to be appended to its name in a sentence.
    func place(of listener: ListenerName) -> String { urls(listener).map { ", \($0)" } ?? "" }

    /// The URL of the listener's metadata as a protected resource; `nil` except for the client listener.
    var resourceMetadata: String? {
        name == .client ? urls(.client).map { ServiceURLs.wellKnown("oauth-protected-resource", of: $0) } : nil
    }

    /// The problem type of a code, which is the URL of its page (RFC 9457 §3.1.1), at the row of the reason.
    func problemType(_ code: String, _ reason: Refusal.Reason? = nil) -> String {
        "\(problemIndex)/\(ProblemReason.page(of: code, reason))"
    }

    /// The URL of the list of all codes.
    var problemIndex: String { "\(urls(.public) ?? "")/problems" }

    /// Writes a log line and two measurements.
    ///
    /// - Parameter logger: the request's logger, if it has more metadata than the listener's.
    func record(_ outcome: Outcome, id: String, by logger: Logger? = nil) {
        record(outcome, id: id, by: logger, measurements.of(outcome.method, outcome.route, outcome.status))
    }

    /// The metrics of one route and status, for callers that cache them.
    func instruments(
        _ method: HTTPRequest.Method, _ route: String, _ status: HTTPResponse.Status
    ) -> RequestMeasurements.Instruments {
        measurements.of(method, route, status)
    }

    /// Writes a log line, and measures with instruments that the caller looked up before.
    func record(
        _ outcome: Outcome, id: String, by logger: Logger? = nil, _ instruments: RequestMeasurements.Instruments
    ) {
        instruments.record(outcome.elapsed)
        if let problem = outcome.problem, !problem.isFailure {
            measurements.refuse(problem.code, problem.refusal?.reasonText)
        }
        if let tracer { end(outcome, id: id, by: tracer) }
        (logger ?? self.logger).log(
            level: outcome.isFailure ? .error : .info, "request",
            metadata: [RequestLine.key: .stringConvertible(RequestLine(listener: name, outcome: outcome, id: id))])
    }

    /// The response to a request that reaches no route because it is malformed or not allowed. It is logged and counted
    /// as any other.
    func refuse(
        _ defect: HTTPDefect, _ method: HTTPRequest.Method?, id: String
    ) -> (head: HTTPResponse, body: ByteBuffer) {
        let problem = Problem(defect)
        var (fields, body) =
            name == .console
            ? HTMLPage.refusal(problem, requestID: id) : problem.document(requestID: id, from: self)
        fields.append(.requestID(id))
        fields[.connection] = "close"
        fields[.date] = Self.date(Date())
        record(
            Outcome(
                method: method ?? .unread, route: RequestMeasurements.unmatched, status: problem.status,
                elapsed: .zero, problem: problem), id: id)
        if method == .head { body.clear() }
        return (HTTPResponse(status: problem.status, headerFields: fields), body)
    }

    /// A date in HTTP's form (RFC 9110 §5.6.7).
    static func date(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let two = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(1900 + parts.tm_year)"
        return "\(days[Int(parts.tm_wday)]), \(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}

extension HTTPRequest.Method {
    /// Recorded instead of a method that could not be parsed.
    static let unread = HTTPRequest.Method("UNREAD") ?? .get
}

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
    var traceParent: TraceParent? { text(of: .traceParent).flatMap { TraceParent($0) } }
}
