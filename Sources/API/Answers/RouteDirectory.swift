import Domain
import Encoding
import HTTPTypes
import Synchronization

package enum ListenerName: String, Sendable, CaseIterable {
    case `public`, client, ops, console
}

/// The methods of each path on each listener, and what each call declares. They are recorded when routes are added to
/// the routers. It explains why a router has no route: a wrong method, `OPTIONS`, or a path of another listener.
final class RouteDirectory: Sendable {
    /// The result for a request without a route.
    enum Finding: Equatable {
        /// The path exists, for other methods.
        case otherMethods([HTTPRequest.Method])
        /// Another listener has the path.
        case elsewhere(ListenerName)
        case nowhere
    }

    private struct Route {
        /// The template's parts; `nil` matches anything.
        let parts: [Substring?]
        var methods: [HTTPRequest.Method]
        /// By method and template, such as `GET /sessions/{id}`.
        var calls: [String: RouteCall] = [:]

        func fits(_ path: [Substring]) -> Bool {
            parts.count == path.count
                && zip(parts, path).allSatisfy { part, given in part?.hasSameBytes(as: given) ?? true }
        }
    }

    private let routes = Mutex<[ListenerName: [Route]]>([:])

    /// Records a route. `GET` implies `HEAD`, and every path has `OPTIONS`.
    func add(_ method: HTTPRequest.Method, _ template: String, _ call: RouteCall, on listener: ListenerName) {
        let parts = template.split(separator: "/").map { $0.hasPrefix("{") ? nil : $0 }
        routes.withLock { routes in
            var known = routes[listener] ?? []
            let index = known.firstIndex { $0.parts == parts } ?? known.endIndex
            if index == known.endIndex { known.append(Route(parts: parts, methods: [.options])) }
            known[index].methods += method == .get ? [.get, .head] : [method]
            known[index].methods.sort { $0.rawValue < $1.rawValue }
            known[index].calls["\(method.rawValue) \(template)"] = call
            routes[listener] = known
        }
    }

    /// What each route of a listener declares, by a key such as `POST /sessions`.
    func calls(on listener: ListenerName) -> [String: RouteCall] {
        routes.withLock { $0[listener] ?? [] }.reduce(into: [:]) { calls, route in
            calls.merge(route.calls) { $1 }
        }
    }

    /// The cost of each route of a listener, by the same key.
    func costs(on listener: ListenerName) -> [String: CallCost] { calls(on: listener).mapValues(\.cost) }

    /// The bound of a route's body if it has one of its own, bytes.
    func largestBody(of method: HTTPRequest.Method, _ template: String, on listener: ListenerName) -> Int? {
        calls(on: listener)["\(method.rawValue) \(template)"]?.largestBody
    }

    /// The largest bound that a route of a listener has of its own, bytes; 0 if none has.
    func largestBody(on listener: ListenerName) -> Int {
        calls(on: listener).values.compactMap(\.largestBody).max() ?? 0
    }

    /// Looks up a path for which a listener's router has no route with the request's method.
    func find(_ path: String, on listener: ListenerName) -> Finding {
        routes.withLock { routes in
            if let methods = Self.methods(path, routes[listener] ?? []) { return .otherMethods(methods) }
            let other = ListenerName.allCases.first { other in
                other != listener && Self.methods(path, routes[other] ?? []) != nil
            }
            return other.map { .elsewhere($0) } ?? .nowhere
        }
    }

    /// The methods of the route that a router would choose. If several match, it is the one with a literal part at the
    /// first difference.
    private static func methods(_ path: String, _ routes: [Route]) -> [HTTPRequest.Method]? {
        if path == "*" { return Set(routes.flatMap(\.methods)).sorted { $0.rawValue < $1.rawValue } }
        guard let parts = parts(ofPath: path) else { return nil }
        let fitting = routes.filter { $0.fits(parts) }
        return fitting.max { $0.parts.lexicographicallyPrecedes($1.parts) { $0 == nil && $1 != nil } }?.methods
    }

    /// The parts of a path. `nil` if a part is empty or the path does not begin with a slash: such a path has no route.
    /// The router skips empty parts (Upstream.md), so its choice is valid only if this is not `nil`.
    static func parts(ofPath path: String) -> [Substring]? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let rest = path.dropFirst()
        guard !rest.isEmpty else { return [] }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty } ? parts : nil
    }
}
