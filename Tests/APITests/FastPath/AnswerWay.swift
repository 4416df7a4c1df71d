import Domain
import Fixtures
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import Metrics
import NIOCore
import NIOEmbedded
import Operations
import Synchronization
import Traces

@testable import API

/// One way to the answers of a listener, with the fast path or without it, with counters and a log of its own.
struct AnswerWay: Sendable {
    /// Below the library's own limit of 100 for a peer that has not acknowledged any settings. It closes the connection.
    static let maximumStreams = 80
    let registry = PrometheusRegistry()
    let log = CapturedLog()
    let tasks = ConnectionTasks()
    private let http1: HTTP1Connection
    private let http2: HTTP2Connection

    /// - Parameter accounts: in place of the listener's own.
    init(
        _ fixture: ServiceFixture, usesFastPath: Bool, on listener: ListenerName = .client, tracer: SpanTracer? = nil,
        accounts: ResponseAccounts? = nil
    ) {
        let log = log
        (http1, http2) = withMetricsFactory(registry) {
            let listeners = Listeners(
                fixture.context, maximumConnections: 100, open: OpenChannels(), urls: { _ in nil }, tracer: tracer,
                logger: Logger(label: "test") { _ in log.handler })
            var face = listeners.face(listener)
            if let accounts { face.accounts = accounts }
            let (ahead, responder) =
                listener == .client
                ? Self.client(fixture, listeners, face) : Self.public(fixture, listeners, face)
            let fastPath = usesFastPath ? ahead : nil
            let limits = listeners.limits
            return (
                HTTP1Connection(limits: limits, face: face, fastPath: fastPath, responder: responder),
                HTTP2Connection(
                    http1: HTTP1Channel(
                        responder: responder,
                        configuration: HTTP1Connection.configuration(limits, face, isStream: true)),
                    limits: limits, maximumStreams: Self.maximumStreams, fastPath: fastPath, accounts: face.accounts)
            )
        }
    }

    private static func client(
        _ fixture: ServiceFixture, _ listeners: Listeners, _ face: ListenerFace
    ) -> (FastPath, HTTPChannelHandler.Responder) {
        let context = fixture.context
        let (sessions, tokens) = (SessionRoutes(service: context), TokenRoutes(service: context))
        let router = listeners.clientRouter(
            certificates: certificates(fixture),
            metadata: MetadataRoutes(urls: context.urls), tokens: tokens, sessions: sessions,
            phones: PhoneRoutes(service: context, verifyCaptcha: { $0 == "solved" }),
            cards: CardRoutes(service: context, askIssuer: nil),
            users: UserRoutes(context),
            authorizations: AuthorizationRoutes(service: context), streams: MessageStreamRoutes(service: context))
        return (
            FastPath(sessions, tokens, face: face),
            responder(router.buildResponder(), fixture, face.logger)
        )
    }

    private static func `public`(
        _ fixture: ServiceFixture, _ listeners: Listeners, _ face: ListenerFace
    ) -> (FastPath, HTTPChannelHandler.Responder) {
        let context = fixture.context
        let tokens = TokenRoutes(service: context)
        let router = listeners.router(PublicContext.self, .public)
        router.add(middleware: ErrorResponseMiddleware(face: face, policy: fixture.policy))
        ProviderRoutes(service: context).add(to: router)
        tokens.addPublic(to: router)
        SharedSignalsRoutes(service: context, allowsLoopback: false).add(to: router)
        return (FastPath(tokens, face: face), responder(router.router.buildResponder(), fixture, face.logger))
    }

    private static func certificates(_ fixture: ServiceFixture) -> CertificateRoutes {
        CertificateRoutes(
            fixture.context, publish: RevocationLists([fixture.publish]), verifyCaptcha: { $0 == "solved" })
    }

    /// What the HTTP library does around a router, with the fixture's clock.
    private static func responder<Responder: HTTPResponder>(
        _ router: Responder, _ fixture: ServiceFixture, _ logger: Logger
    ) -> HTTPChannelHandler.Responder
    where Responder.Context: RequestContext, Responder.Context.Source == ApplicationRequestContextSource {
        { request, writer, channel in
            var logger = logger
            logger[metadataKey: "hb.request.id"] = "0123456789abcdef0123456789abcdef"
            let context = Responder.Context(
                source: ApplicationRequestContextSource(channel: channel, logger: logger))
            var response = try await router.respond(to: request, context: context)
            response.headers[.date] = ListenerFace.date(fixture.clock.now)
            try await writer.write(response: response.head, body: response.body)
        }
    }

    /// A connection past its handshake, of a device or of anybody.
    ///
    /// - Parameter connections: those of its listener; `nil` if it has no limits.
    func open(
        _ connection: ClientConnection?, isHTTP2: Bool, takesBodies: Bool = true,
        in connections: ListenerConnections? = nil
    ) async throws -> Wire {
        let channel = NIOAsyncTestingChannel()
        try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4711)).get()
        let established = EstablishedConnection(requestIDs: RequestIDs(of: Cell.ofTests.randomID(Array(1...14))))
        if let connection { established.establish(connection) }
        let activity =
            connections.flatMap { $0.insert(channel, from: "192.0.2.1") } ?? ConnectionActivity(alone: channel)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (http1, http2) = (http1, http2)
        let serve: @Sendable () async -> Void
        if isHTTP2 {
            let value = try await channel.testingEventLoop.executeInContext {
                try http2.setup(
                    channel: channel, activity: activity, established: established,
                    logger: logger)
            }
            serve = { await http2.handle(value, logger: logger) }
        } else {
            let value = try await channel.testingEventLoop.executeInContext {
                http1.setup(
                    channel: channel, activity: activity, established: established,
                    logger: logger)
            }.get()
            serve = { [tasks] in
                await value.waitForRoutes()
                tasks.callRoutes()
                await http1.handle(value, logger: logger)
            }
        }
        withMetricsFactory(registry) {
            tasks.add {
                let current = CurrentConnection(value: connection, requestIDs: established.requestIDs)
                await CurrentConnection.$current.withValue(current) { await serve() }
            }
        }
        return try await Wire(channel, isHTTP2: isHTTP2, takesBodies: takesBodies)
    }

    /// How often the fast path has answered.
    var fastAnswers: Int {
        let line = registry.render().split(separator: "\n").first {
            $0.hasPrefix("countersign_fast_path_answers_total ")
        }
        return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
    }

    /// What was counted, without times and without who answered.
    var counts: [Substring] {
        registry.render().split(separator: "\n").filter { line in
            !line.contains("_bucket{") && !line.contains("_sum") && !line.contains("fast_path_answers")
        }
    }

    /// The lines of the log, without times.
    var lines: [String] {
        log.lines.map { $0.replacing(/microseconds=\d+|\d+\.\d+(?:e-?\d+)?/, with: "…") }
    }
}

/// The tasks of connections, and how many of them have called the routes.
final class ConnectionTasks: Sendable {
    private let state = Mutex((calls: 0, tasks: [Task<Void, Never>]()))

    var calls: Int { state.withLock { $0.calls } }

    fileprivate func callRoutes() { state.withLock { $0.calls += 1 } }

    fileprivate func add(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.tasks.append(Task { await body() }) }
    }

    func cancel() {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
    }
}

/// Bytes that come out again in the same order once they are wound back.
final class RewoundBytes: Sendable {
    /// Where it stands.
    struct Place: Sendable {
        fileprivate var random: SeededRandom
        /// How many bytes it has given.
        fileprivate(set) var count = 0
    }

    private let state: Mutex<Place>

    init(seed: UInt64) {
        state = Mutex(Place(random: SeededRandom(seed: seed)))
    }

    func next(_ count: Int) -> [UInt8] {
        state.withLock { state in
            state.count += count
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &state.random) }
        }
    }

    var place: Place {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
