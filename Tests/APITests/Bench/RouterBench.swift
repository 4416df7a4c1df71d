import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import NIOEmbedded
import Operations
import Synchronization
import Testing

@testable import API

/// The routes of all three listeners over real operations and a store of their own, asked without a connection.
struct RouterBench: Sendable {
    let fixture: ServiceFixture
    let codes: PhoneCodeKeys
    let log = CapturedLog()
    let state = OpsState()
    let directory: RouteDirectory
    let listeners: Listeners
    /// What Herald hands its calls to.
    let respondToClient: @Sendable (Request, ClientContext) async throws -> Response
    private let responders:
        [ListenerName: @Sendable (Request, ApplicationRequestContextSource) async throws -> Response]
    /// Each route as `POST /sessions`, by listener.
    let routes: [ListenerName: [String]]

    /// What probes are told.
    final class OpsState: Sendable {
        private let ready = Mutex(true)
        var isReady: Bool {
            get { ready.withLock { $0 } }
            set { ready.withLock { $0 = newValue } }
        }
    }

    /// Counts for all tests of this process.
    static let metrics: PrometheusRegistry = {
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        return registry
    }()

    /// The usual policy, changed.
    static func policy(_ change: (inout Policy) -> Void) -> Policy {
        var policy = Policy()
        change(&policy)
        return policy
    }

    /// Builds it over a new store and runs a body.
    static func run(_ policy: Policy = Policy(), _ body: (RouterBench) async throws -> Void) async throws {
        var policy = policy
        policy.phones.pushApplications = ["arn:aws:sns:us-east-1:123456789012:app/GCM/test"]
        try await ServiceFixture.run(policy) { try await body(try RouterBench($0)) }
    }

    init(_ fixture: ServiceFixture) throws {
        _ = Self.metrics
        self.fixture = fixture
        codes = fixture.context.keys.phoneCodes
        let log = log
        let listeners = Listeners(
            fixture.context, maximumConnections: 100, open: OpenChannels(),
            urls: { [.public: ServiceFixture.urls.issuer, .client: ServiceFixture.urls.client][$0] },
            logger: Logger(label: "test") { _ in log.handler })
        directory = listeners.directory
        self.listeners = listeners
        let context = fixture.context
        let certificates = CertificateRoutes(
            context, publish: RevocationLists([fixture.publish]), verifyCaptcha: { $0 == "solved" })
        let (state, tokens) = (state, TokenRoutes(service: context))
        let metadata = MetadataRoutes(urls: ServiceFixture.urls)
        let open = listeners.publicRouter(
            certificates: certificates, providers: ProviderRoutes(service: context), tokens: tokens,
            webhooks: WebhookRoutes(service: context, allowsLoopback: false),
            sharedSignals: SharedSignalsRoutes(service: context, allowsLoopback: false),
            discovery: Self.discoveryRoutes(fixture),
            metadata: metadata)
        let client = listeners.clientRouter(
            certificates: certificates, metadata: metadata, tokens: tokens,
            sessions: SessionRoutes(service: context),
            phones: PhoneRoutes(service: context, verifyCaptcha: { $0 == "solved" }),
            cards: CardRoutes(service: context, askIssuer: nil),
            users: UserRoutes(context, turnSecret: Secret("a secret of sixteen")),
            authorizations: AuthorizationRoutes(service: context), streams: MessageStreamRoutes(service: context))
        let ops = listeners.opsRouter(
            OpsRoutes(isReady: { (state.isReady, true, true) }, metrics: { Self.metrics.render() }))
        // A well-known document has a second place, after whose name any path may follow: no route of its own.
        func names(_ routes: [(method: HTTPRequest.Method, path: String)]) -> [String] {
            routes.filter { !$0.path.hasSuffix("/**") }.map { "\($0.method.rawValue) \($0.path)" }
        }
        routes = [
            .public: names(open.routes.map { ($0.method, $0.path.description) }),
            .client: names(client.routes.map { ($0.method, $0.path.description) }),
            .ops: names(ops.routes.map { ($0.method, $0.path.description) }),
        ]
        let (openResponder, clientResponder, opsResponder) = (
            open.buildResponder(), client.buildResponder(), ops.buildResponder()
        )
        respondToClient = { try await clientResponder.respond(to: $0, context: $1) }
        responders = [
            .public: { try await openResponder.respond(to: $0, context: PublicContext(source: $1)) },
            .client: { try await clientResponder.respond(to: $0, context: ClientContext(source: $1)) },
            .ops: { try await opsResponder.respond(to: $0, context: PublicContext(source: $1)) },
        ]
    }

    var logger: Logger {
        let log = log
        return Logger(label: "test") { _ in log.handler }
    }

    /// Sends a request through a listener's router.
    ///
    /// - Parameters:
    ///   - connection: whose handshake it came over; `nil` on the listeners that need no certificate.
    ///   - body: bytes that are sent with their length, or a stream of them.
    ///   - accounts: in place of the listeners' own.
    func send(
        _ listener: ListenerName, _ call: String, headers: HTTPFields = [:], body: RequestBody? = nil,
        on connection: ClientConnection? = nil, from address: String = "192.0.2.1", accounts: ResponseAccounts? = nil
    ) async throws -> Reply {
        let words = call.split(separator: " ", maxSplits: 1).map(String.init)
        let method = try #require(HTTPRequest.Method(words[0]))
        let request = Request(
            head: HTTPRequest(
                method: method, scheme: "https", authority: "localhost", path: words[1], headerFields: headers),
            body: body ?? RequestBody(buffer: ByteBuffer()))
        var logger = logger
        logger[metadataKey: "hb.request.id"] = .stringConvertible(UUID())
        let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: logger)
        let responder = try #require(responders[listener])
        let peer = try SocketAddress(ipAddress: address, port: 4711)
        let carrier = ResponseCarrier(accounts ?? listeners.accounts, on: source.channel)
        defer { carrier.close() }
        let current = CurrentConnection(value: connection, peerAddress: peer)
        let response = try await CurrentConnection.$current.withValue(current) {
            try await ResponseCarrier.$current.withValue(carrier) { try await responder(request, source) }
        }
        let written = WrittenBody()
        try await response.body.write(written)
        return Reply(
            listener: listener, method: method, path: words[1], status: response.status.code,
            headers: response.headers, body: written.bytes)
    }

    /// The value of a counter whose line begins so.
    func counted(_ series: String) -> Int {
        let line = Self.metrics.render().split(separator: "\n").first { $0.hasPrefix("countersign_" + series + " ") }
        return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
    }

    private final class WrittenBody: ResponseBodyWriter {
        private let buffer = Mutex(ByteBuffer())
        var bytes: [UInt8] { buffer.withLock { Array($0.readableBytesView) } }
        func write(_ part: ByteBuffer) async throws { buffer.withLock { _ = $0.writeImmutableBuffer(part) } }
        func finish(_ trailers: HTTPFields?) async throws {}
    }
}

/// What a router answered.
struct Reply: Sendable {
    let listener: ListenerName
    let method: HTTPRequest.Method
    let path: String
    let status: Int
    let headers: HTTPFields
    let body: [UInt8]

    /// The body's member; a problem's or an answer's.
    subscript(name: String) -> JSONValue? { (try? StrictJSON.parse(body))?[name] }
    func text(_ name: String) -> String? { self[name]?.text }
    var code: String? { status >= 400 ? text("code") : nil }
}

/// The log of a bench.
final class CapturedLog: Sendable {
    private let kept = Mutex<[String]>([])
    private let keptIDs = Mutex<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    /// The requests' ids, of the lines that have one.
    var requestIDs: [String] { keptIDs.withLock { $0 } }

    var handler: any LogHandler { Handler(log: self) }

    private struct Handler: LogHandler {
        let log: CapturedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        init(log: CapturedLog) { self.log = log }

        func log(event: LogEvent) {
            var words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            if case .stringConvertible(let value)? = event.metadata?[RequestLine.key], let line = value as? RequestLine
            {
                log.keptIDs.withLock { $0.append(line.id) }
                words = ["\(line)".replacing(" request_id=\(line.id)", with: "")]
            }
            log.kept.withLock {
                $0.append("\(event.level) \(event.message) " + words.joined(separator: " "))
            }
        }
    }
}
