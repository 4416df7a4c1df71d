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
        let method: HTTPRequest.Method
        let route: String
        let status: Int
    }

    private let listener: String
    private let known = Mutex<[Kind: Instruments]>([:])

    init(listener: String) {
        self.listener = listener
    }

    /// The metrics of a route's template and a status. There are few, because both come from the source code.
    func of(_ method: HTTPRequest.Method, _ route: String, _ status: HTTPResponse.Status) -> Instruments {
        let kind = Kind(method: method, route: route, status: status.code)
        return known.withLock { known in
            if let instruments = known[kind] { return instruments }
            let made = make(kind)
            // Clients may send any method: one without a route must not become a label.
            if route != Self.unmatched { known[kind] = made }
            return made
        }
    }

    /// The route label of a request that matches no template.
    static let unmatched = "unmatched"

    /// The methods that are labels even if no route matched.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    static func label(of method: HTTPRequest.Method, _ route: String) -> String {
        route != unmatched || methods.contains(method) ? method.rawValue : "other"
    }

    private func make(_ kind: Kind) -> Instruments {
        let method = Self.label(of: kind.method, kind.route)
        return Instruments(
            counter: Counter(
                label: "http_requests",
                dimensions: [
                    ("listener", listener), ("method", method), ("route", kind.route), ("status", String(kind.status)),
                ]),
            timer: Metrics.Timer(
                label: "http_request_duration_seconds",
                dimensions: [("listener", listener), ("method", method), ("route", kind.route)]))
    }
}
