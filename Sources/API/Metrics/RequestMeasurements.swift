import HTTPTypes
import Metrics
import Synchronization

/// The counters and timers of a listener's requests. Each is looked up by its labels only once: making the labels costs
/// as much as a whole request of the HTTP stack.
final class RequestMeasurements: Sendable {
    struct Instruments: Sendable {
        let counter: Counter
        let timer: Metrics.Timer

        func record(_ elapsed: Duration) {
            counter.increment()
            timer.recordNanoseconds(elapsed.nanoseconds)
        }
    }

    private struct Kind: Hashable {
        /// The label of the method: a client may send any.
        let method: String
        let route: String
        let status: Int
    }

    private struct RefusalKind: Hashable {
        let code: String
        let reason: String
    }

    private let listener: String
    private let known = Mutex<[Kind: Instruments]>([:])
    private let refusals = Mutex<[RefusalKind: Counter]>([:])

    init(listener: String) {
        self.listener = listener
    }

    /// The metrics of a route's template and a status. There are few, because both come from the source code.
    func of(_ method: HTTPRequest.Method, _ route: String, _ status: HTTPResponse.Status) -> Instruments {
        let kind = Kind(method: Self.label(of: method, route), route: route, status: status.code)
        return known.withLock { known in
            if let instruments = known[kind] { return instruments }
            let made = make(kind)
            known[kind] = made
            return made
        }
    }

    /// Counts a refusal by its code and reason. There are few: both come from the source code, or the reason from a ban.
    func refuse(_ code: String, _ reason: String?) {
        let kind = RefusalKind(code: code, reason: reason ?? "")
        refusals.withLock { refusals in
            if let counter = refusals[kind] { return counter }
            let made = Counter(label: "refusals", dimensions: [("code", kind.code), ("reason", kind.reason)])
            refusals[kind] = made
            return made
        }.increment()
    }

    /// The route label of a request that matches no template.
    static let unmatched = "unmatched"

    /// The methods that are labels even if no route matched.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// The label of a request's method. A method without a route must not become one of its own.
    static func label(of method: HTTPRequest.Method, _ route: String) -> String {
        route != unmatched || methods.contains(method) ? method.rawValue : "other"
    }

    private func make(_ kind: Kind) -> Instruments {
        Instruments(
            counter: Counter(
                label: "http_requests",
                dimensions: [
                    ("listener", listener), ("method", kind.method), ("route", kind.route),
                    ("status", String(kind.status)),
                ]),
            timer: Metrics.Timer(
                label: "http_request_duration_seconds",
                dimensions: [("listener", listener), ("method", kind.method), ("route", kind.route)]))
    }
}
