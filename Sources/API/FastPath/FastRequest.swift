import Domain
import Encoding
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP1
import Traces

/// A request that the fast path may answer, read from the parts of either version of HTTP. What is not of exactly this
/// form is `nil`, and read by the routes.
struct FastRequest {
    enum Question {
        /// `GET /sessions/current` with a session's token, by the token's hash.
        case session(Digest256)
        /// `POST /nonces`
        case nonce
        /// `POST /introspect` of a provider, by the hash of its token. The session's token is in the content.
        case introspection(bearer: Digest256)
        /// `POST /token` of a device without a DPoP proof. What it asks for is in the content.
        case exchange
    }

    let question: Question
    /// The trace that the client names.
    let trace: TraceParent?

    /// What such requests have in common with the route that answers them otherwise.
    struct Route: Sendable {
        let method: HTTPRequest.Method
        let template: String
        let status: HTTPResponse.Status

        static let session = Route(method: .get, template: "/sessions/current", status: .ok)
        static let nonce = Route(method: .post, template: "/nonces", status: .created)
        static let introspection = Route(method: .post, template: "/introspect", status: .ok)
        static let exchange = Route(method: .post, template: "/token", status: .ok)

        fileprivate func fits(_ method: String, _ path: String) -> Bool {
            path.hasSameBytes(as: template) && method.hasSameBytes(as: self.method.rawValue)
        }
    }

    var route: Route {
        switch question {
        case .session: .session
        case .nonce: .nonce
        case .introspection: .introspection
        case .exchange: .exchange
        }
    }

    /// Bytes of content that are waited for at most; 0 where a request has none.
    var maximumContent: Int {
        switch question {
        case .session, .nonce: 0
        case .introspection, .exchange: 1024
        }
    }

    /// Reads the head of a request of HTTP/1.1 that leaves its connection as it is.
    init?(_ head: HTTPRequestHead) {
        guard head.version == .http1_1, let route = Self.route(head.method.rawValue, head.uri) else { return nil }
        var fields = FastFields()
        for (name, value) in head.headers {
            guard fields.take(name, value) else { return nil }
        }
        guard MessageRules.defect(of: head) == nil else { return nil }
        self.init(route, fields)
    }

    /// Reads the header of a request of HTTP/2. ``StreamRulesHandler`` has looked at its fields.
    init?(_ headers: HPACKHeaders) {
        var fields = FastFields()
        var (method, path) = ("", "")
        for (name, value, _) in headers {
            if name.utf8.first == UInt8(ascii: ":") {
                if name.hasSameBytes(as: ":method") { method = value }
                if name.hasSameBytes(as: ":path") { path = value }
                if name.hasSameBytes(as: ":protocol") { return nil }
            } else {
                guard fields.take(name, value) else { return nil }
            }
        }
        guard let route = Self.route(method, path) else { return nil }
        self.init(route, fields)
    }

    private enum Kind { case session, nonce, introspection, exchange }

    private static func route(_ method: String, _ path: String) -> Kind? {
        if Route.session.fits(method, path) { return .session }
        if Route.nonce.fits(method, path) { return .nonce }
        if Route.introspection.fits(method, path) { return .introspection }
        return Route.exchange.fits(method, path) ? .exchange : nil
    }

    private init?(_ kind: Kind, _ fields: FastFields) {
        trace = fields.traceParent.flatMap { TraceParent($0) }
        switch kind {
        case .session:
            guard fields.hasNoContent, let field = fields.authorization,
                let hash = AuthorizationHeader.sessionTokenHash(inUsualForm: field)
            else { return nil }
            question = .session(hash)
        case .nonce:
            guard fields.hasNoContent else { return nil }
            question = .nonce
        case .introspection:
            guard fields.contentType?.hasSameBytes(as: FormBody.mediaType) == true, let field = fields.authorization,
                let hash = AuthorizationHeader.bearerHash(inUsualForm: field)
            else { return nil }
            question = .introspection(bearer: hash)
        case .exchange:
            guard fields.contentType?.hasSameBytes(as: FormBody.mediaType) == true, fields.authorization == nil else {
                return nil
            }
            question = .exchange
        }
    }

    /// The hash of the session's token in the content of an introspection, `token=…` and perhaps its hint, which says
    /// nothing (RFC 7662 §2.1); `nil` for every other form.
    static func introspectedToken(_ content: ByteBuffer) -> Digest256? {
        content.withUnsafeReadableBytes { bytes in
            guard bytes.starts(with: "token=".utf8) else { return nil }
            let end = bytes.firstIndex(of: UInt8(ascii: "&")) ?? bytes.endIndex
            guard end == bytes.endIndex || bytes[end...].elementsEqual("&token_type_hint=access_token".utf8) else {
                return nil
            }
            let token = UnsafeRawBufferPointer(rebasing: bytes[6..<end])
            // What a form may encode is read by the routes.
            guard !token.contains(UInt8(ascii: "%")), !token.contains(UInt8(ascii: "+")) else { return nil }
            return SessionToken.hash(ofShown: token)
        }
    }
}

/// The header fields that matter to the fast path.
struct FastFields {
    private(set) var authorization: String?
    private(set) var contentType: String?
    /// No trace where the field stands twice: what it holds then is of no form.
    private(set) var traceParent: String?
    private(set) var hasNoContent = true

    /// Takes a field; `false` where it makes the request another one's: about the connection, the body, the form of the
    /// answer, or a second field of a kind that is read. Most fields are told apart by their length.
    mutating func take(_ name: String, _ value: String) -> Bool {
        switch name.utf8.count {
        case 4: return !Self.isSame(name, "dpop")
        case 6: return !Self.isSame(name, "expect") && (!Self.isSame(name, "accept") || !Self.mentionsJWT(value))
        case 7: return !Self.isSame(name, "upgrade")
        case 10: return !Self.isSame(name, "connection") || value.hasSameBytes(as: "keep-alive")
        case 11 where Self.isSame(name, "traceparent"):
            traceParent = traceParent == nil ? value : ""
            return true
        case 13 where Self.isSame(name, "authorization"):
            guard authorization == nil else { return false }
            authorization = value
            return true
        case 12 where Self.isSame(name, "content-type"):
            guard contentType == nil else { return false }
            contentType = value
            return true
        case 14 where Self.isSame(name, "content-length"):
            hasNoContent = hasNoContent && value.hasSameBytes(as: "0")
            return true
        case 17: return !Self.isSame(name, "transfer-encoding")
        default: return true
        }
    }

    /// Whether an `Accept` field asks for a signed introspection (RFC 9701), or may.
    private static func mentionsJWT(_ value: String) -> Bool {
        var rest = value.utf8[...]
        while let start = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "j") }) {
            rest = rest[start...].dropFirst()
            if rest.prefix(2).elementsEqual("wt".utf8, by: { $0 | 0x20 == $1 }) { return true }
        }
        return false
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
