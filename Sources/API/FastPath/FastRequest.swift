import Encoding
import HTTPTypes
import NIOHPACK
import NIOHTTP1

/// A request that the fast path may answer, read from the parts of either version of HTTP. What is not of exactly this
/// form is `nil`, and read by the routes.
enum FastRequest {
    /// `GET /sessions/current` with a session's token, by the token's hash.
    case session(Digest256)
    /// `POST /nonces`
    case nonce

    /// What such requests have in common with the route that answers them otherwise.
    struct Route: Sendable {
        let method: HTTPRequest.Method
        let template: String
        let status: HTTPResponse.Status

        static let session = Route(method: .get, template: "/sessions/current", status: .ok)
        static let nonce = Route(method: .post, template: "/nonces", status: .created)
    }

    var route: Route {
        switch self {
        case .session: .session
        case .nonce: .nonce
        }
    }

    /// Reads a request of HTTP/1.1 without a body that leaves its connection as it is.
    init?(_ head: HTTPRequestHead) {
        guard head.version == .http1_1, let isNonce = Self.isNonce(head.method.rawValue, head.uri) else { return nil }
        var fields = FastFields()
        for (name, value) in head.headers {
            guard fields.take(name, value) else { return nil }
        }
        guard MessageRules.defect(of: head) == nil else { return nil }
        self.init(isNonce: isNonce, fields)
    }

    /// Reads a request of HTTP/2 whose header is all there is of it. The library has looked at the pseudo-header fields.
    init?(_ headers: HPACKHeaders) {
        var fields = FastFields()
        var (method, path) = ("", "")
        for (name, value, _) in headers {
            if name.utf8.first == UInt8(ascii: ":") {
                if name == ":method" { method = value }
                if name == ":path" { path = value }
                if name == ":protocol" { return nil }
            } else {
                guard fields.take(name, value) else { return nil }
            }
        }
        guard let isNonce = Self.isNonce(method, path) else { return nil }
        self.init(isNonce: isNonce, fields)
    }

    private init?(isNonce: Bool, _ fields: FastFields) {
        if isNonce {
            self = .nonce
        } else {
            guard let field = fields.authorization,
                let hash = AuthorizationHeader.sessionTokenHash(inUsualForm: field)
            else { return nil }
            self = .session(hash)
        }
    }

    private static func isNonce(_ method: String, _ path: String) -> Bool? {
        func fits(_ route: Route) -> Bool { path == route.template && method == route.method.rawValue }
        return fits(.session) ? false : fits(.nonce) ? true : nil
    }
}

/// The header fields that matter to the fast path.
struct FastFields {
    private(set) var authorization: String?

    /// Takes a field; `false` where it makes the request another one's: about the connection, the body, or a second
    /// `Authorization`. Most fields are told apart by their length.
    mutating func take(_ name: String, _ value: String) -> Bool {
        switch name.utf8.count {
        case 6: return !Self.isSame(name, "expect")
        case 7: return !Self.isSame(name, "upgrade")
        case 10: return !Self.isSame(name, "connection") || value == "keep-alive"
        case 13 where Self.isSame(name, "authorization"):
            guard authorization == nil else { return false }
            authorization = value
            return true
        case 14: return !Self.isSame(name, "content-length") || value == "0"
        case 17: return !Self.isSame(name, "transfer-encoding")
        default: return true
        }
    }

    /// Whether a name has these letters, in whatever case.
    private static func isSame(_ name: String, _ letters: StaticString) -> Bool {
        var name = name
        return name.withUTF8 { name in
            guard name.count == letters.utf8CodeUnitCount else { return false }
            return name.indices.allSatisfy { name[$0] | 0x20 == letters.utf8Start[$0] }
        }
    }
}
