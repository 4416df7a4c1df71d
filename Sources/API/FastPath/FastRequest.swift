import Domain
import Encoding
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP1
import Traces

/// A request that the fast path may answer, parsed from either version of HTTP. Requests of any other form are `nil`,
/// and the routes parse them.
struct FastRequest {
    enum Question {
        /// `GET /sessions/current` with a session token, by the hash of the token.
        case session(Digest256)
        /// `POST /nonces` of a device, without content.
        case nonce
        /// `POST /introspect` of a provider, by the hash of its token. The session token is in the content.
        case introspection(bearer: Digest256)
        /// `POST /token` of a device without a DPoP proof. Its parameters are in the content.
        case exchange
    }

    let question: Question
    /// The trace in the client's `traceparent`.
    let trace: TraceParent?

    /// The properties that such requests share with their route.
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

    /// The longest awaited content, bytes; 0 for a request without content.
    var maximumContent: Int {
        switch question {
        case .session, .nonce: 0
        case .introspection, .exchange: 1024
        }
    }

    /// Parses the head of a request of HTTP/1.1 that does not change its connection.
    init?(_ head: HTTPRequestHead) {
        guard head.version == .http1_1, let route = Self.route(head.method.rawValue, head.uri) else { return nil }
        var fields = FastFields()
        for (name, value) in head.headers {
            guard fields.take(name, value) else { return nil }
        }
        guard MessageRules.defect(of: head) == nil else { return nil }
        self.init(route, fields)
    }

    /// Parses the header of a request of HTTP/2. It also needs the rules of ``RequestBlock``. The other rules are those of
    /// ``FieldLimitsHandler``.
    init?(_ headers: HPACKHeaders) {
        var fields = FastFields()
        var (method, path) = ("", "")
        for (name, value, _) in headers {
            guard value.isStreamSafe else { return nil }
            if name.utf8.first == UInt8(ascii: ":") {
                if name.hasSameBytes(as: ":method") { method = value }
                if name.hasSameBytes(as: ":path") { path = value }
                if name.hasSameBytes(as: ":protocol") { return nil }
                if name.hasSameBytes(as: ":authority"), !MessageRules.isHost(value) { return nil }
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

    /// The hash of the session token in the content of an introspection. Accepts `token=…` and optionally its hint,
    /// which is ignored (RFC 7662 §2.1). `nil` for any other form.
    static func introspectedToken(_ content: ByteBuffer) -> Digest256? {
        content.withUnsafeReadableBytes { bytes in
            guard bytes.starts(with: "token=".utf8) else { return nil }
            let end = bytes.firstIndex(of: UInt8(ascii: "&")) ?? bytes.endIndex
            guard end == bytes.endIndex || bytes[end...].elementsEqual("&token_type_hint=access_token".utf8) else {
                return nil
            }
            let token = UnsafeRawBufferPointer(rebasing: bytes[6..<end])
            // The routes decode percent-encoding.
            guard !token.contains(UInt8(ascii: "%")), !token.contains(UInt8(ascii: "+")) else { return nil }
            return SessionToken.hash(ofShown: token)
        }
    }
}

/// The header fields that are relevant to the fast path.
struct FastFields {
    private(set) var authorization: String?
    private(set) var contentType: String?
    /// `nil` if the field is repeated: such a trace is malformed.
    private(set) var traceParent: String?
    private(set) var hasNoContent = true

    /// Reads a field. `false` if the routes must answer: a field about the connection, the body or the form of the
    /// answer, or a repeated field. Most fields are distinguished by their length.
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

    /// Whether an `Accept` field may ask for a signed introspection (RFC 9701).
    private static func mentionsJWT(_ value: String) -> Bool {
        var rest = value.utf8[...]
        while let start = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "j") }) {
            rest = rest[start...].dropFirst()
            if rest.prefix(2).elementsEqual("wt".utf8, by: { $0 | 0x20 == $1 }) { return true }
        }
        return false
    }

    private static func isSame(_ name: String, _ letters: StaticString) -> Bool {
        var name = name
        return name.withUTF8 { name in
            guard name.count == letters.utf8CodeUnitCount else { return false }
            return name.indices.allSatisfy { name[$0] | 0x20 == letters.utf8Start[$0] }
        }
    }
}
