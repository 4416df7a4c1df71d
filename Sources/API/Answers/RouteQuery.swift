import Domain
import Encoding
import Operations

/// What a route declares beside its path.
struct RouteCall: Sendable {
    let cost: CallCost
    var query: RouteQuery = []
    /// The largest body, bytes, if it may be larger than those of other calls.
    var largestBody: Int?
}

/// The query parameters of a route. Each may be present once, and others are refused. A route that declares none refuses
/// every query.
struct RouteQuery: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// The names, as the API's description has them. A name that ends with a dot permits every name that begins with it.
    let names: [String]
    /// Whether other parameters are ignored, as a standard requires.
    var ignoresOthers = false

    init(arrayLiteral names: String...) { self.names = names }

    /// A request with more parameters is refused, so that the work for one is bounded.
    static let maximumCount = 16

    /// Checks the parameters of a request. Names are compared as they are sent, without decoding.
    ///
    /// - Parameter query: `nil` for a request without a query, which costs nothing.
    /// - Throws: `Refusal` `malformed_request`.
    func check(_ query: String?) throws(Refusal) {
        guard let query else { return }
        var seen: [Substring] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            guard permits(name) else {
                if ignoresOthers { continue }
                throw Refusal.queryUnknown(name.prefix(64), allowed: names)
            }
            guard !seen.contains(where: { $0.hasSameBytes(as: name) }) else {
                throw Refusal.queryRepeats(name.prefix(64))
            }
            guard seen.count < Self.maximumCount else { throw Refusal.queryTooLong(allowed: Self.maximumCount) }
            seen.append(name)
        }
    }

    private func permits(_ name: Substring) -> Bool {
        names.contains { declared in
            declared.utf8.last == UInt8(ascii: ".")
                ? name.utf8.count > declared.utf8.count && name.utf8.starts(with: declared.utf8)
                : name.hasSameBytes(as: declared)
        }
    }
}
