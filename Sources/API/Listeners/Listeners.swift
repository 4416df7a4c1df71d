import Domain
import Encoding
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Operations
import ServiceLifecycle
import Traces

package struct ListenerAddress: Sendable {
    let host: String
    let port: Int

    /// A host and a port; port 0 takes a free one.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

/// The limits of a listener's connections, and the counts that they use.
struct ListenerGate: Sendable {
    let limits: RequestPolicy
    /// The open channels of all listeners.
    let open: OpenChannels
    /// The connections of this listener in any state.
    let accepted: ListenerConnections
    let handshakes: Handshakes
}

/// Builds the listeners from their routes.
package struct Listeners: Sendable {
    let service: Operations.Service
    /// The limits at the start: those of an open channel do not change.
    let limits: RequestPolicy
    let open: OpenChannels
    let urls: @Sendable (ListenerName) -> String?
    let tracer: SpanTracer?
    let logger: Logger
    let directory = RouteDirectory()
    /// The memory for the responses of the public and the client listener.
    package let accounts: ResponseAccounts
    /// The memory for responses to probes and administrators, independent of the other.
    private let operatorsAccounts: ResponseAccounts

    func face(_ name: ListenerName) -> ListenerFace {
        ListenerFace(
            name: name, realm: service.realm, directory: directory, urls: urls, tracer: tracer,
            accounts: [.ops, .console].contains(name) ? operatorsAccounts : accounts, environment: service.environment,
            logger: logger)
    }

    /// The limits in front of a listener. All listeners are made through it, so none is without limits.
    func gate(_ name: ListenerName, _ limits: RequestPolicy) -> ListenerGate {
        let isLimited = service.rateLimiting == .on
        return ListenerGate(
            limits: limits, open: open,
            accepted: ListenerConnections(
                name: name.rawValue,
                limits: .init(
                    total: limits.maximumConnections, networks: isLimited ? limits.connectionsPerSender : .none,
                    perCertificate: isLimited ? limits.connectionsPerCertificate : .max),
                logger: logger),
            handshakes: Handshakes(listener: name.rawValue, logger: logger))
    }
}

package extension Listeners {
    /// Makes listeners with a common service, limits, channel list and logger.
    ///
    /// - Parameters:
    ///   - maximumConnections: the limit of each listener, the policy's or lower.
    ///   - urls: the addresses of the listeners, for a client that uses the wrong one.
    ///   - tracer: records a span of each request; `nil` if no spans are collected.
    init(
        _ service: Operations.Service, maximumConnections: Int,
        open: OpenChannels, urls: @escaping @Sendable (ListenerName) -> String?,
        tracer: SpanTracer? = nil, logger: Logger
    ) {
        self.tracer = tracer
        self.service = service
        var limits = service.policy[\.requests]
        limits.maximumConnections = maximumConnections
        self.limits = limits
        self.open = open
        self.urls = urls
        self.logger = logger
        let budget = ResponseAccounts.Budget.Limits(of: limits, isLimited: service.rateLimiting == .on)
        (accounts, operatorsAccounts) = (ResponseAccounts(budget), ResponseAccounts(budget))
    }

    /// The listener for devices without a certificate and for provider backends.
    ///
    /// - Parameters:
    ///   - allowsLoopback: whether receivers of events may be on this machine.
    ///   - pins: SHA-256 of the current and the next server key's SubjectPublicKeyInfo, base64url.
    ///   - webKeys: the public halves of the service's signing keys (RFC 7517).
    func makePublic(
        at address: ListenerAddress, tls: ListenerTLS, certificates: CertificateRoutes, allowsLoopback: Bool,
        pins: @escaping @Sendable () -> [String], webKeys: [JSONValue], onRunning: @escaping @Sendable (Int) -> Void
    ) -> any ServiceLifecycle.Service {
        let face = face(.public)
        let tokens = TokenRoutes(service: service)
        let router = publicRouter(
            certificates: certificates, providers: ProviderRoutes(service: service), tokens: tokens,
            webhooks: WebhookRoutes(service: service, allowsLoopback: allowsLoopback),
            sharedSignals: SharedSignalsRoutes(service: service, allowsLoopback: allowsLoopback),
            discovery: DiscoveryRoutes(service: service, pins: pins, webKeys: webKeys),
            metadata: MetadataRoutes(urls: service.urls))
        let gate = gate(.public, limits)
        let fastPath = FastPath(tokens, face: face)
        return application(router, at: address, gate, onRunning: onRunning) { responder in
            TLSListenerChannel(
                tls: tls, clients: nil, gate: gate, maximumStreams: limits.publicStreams, face: face,
                fastPath: fastPath, responder: responder)
        }
    }

    /// The mutual-TLS listener for certified devices.
    ///
    /// - Parameters:
    ///   - askIssuer: queries the service that confirms a card's data; `nil` if there is none.
    ///   - turnSecret: the secret that the TURN servers share with the service; `nil` if there is none.
    func makeClient(
        at address: ListenerAddress, tls: ListenerTLS, verifyChain: @escaping @Sendable ([[UInt8]]) -> Bool,
        connections: ConnectionTable, certificates: CertificateRoutes, askIssuer: AskIssuer?,
        turnSecret: Secret<String>?, onRunning: @escaping @Sendable (Int) -> Void
    ) -> any ServiceLifecycle.Service {
        let face = face(.client)
        let tokens = TokenRoutes(service: service)
        let sessions = SessionRoutes(service: service)
        let router = clientRouter(
            certificates: certificates, metadata: MetadataRoutes(urls: service.urls), tokens: tokens,
            sessions: sessions, phones: PhoneRoutes(service: service, verifyCaptcha: certificates.verifyCaptcha),
            cards: CardRoutes(service: service, askIssuer: askIssuer),
            users: UserRoutes(service, turnSecret: turnSecret),
            authorizations: AuthorizationRoutes(service: service), streams: MessageStreamRoutes(service: service))
        // A failure is reported to the first request, which is checked again.
        let routes = router.buildResponder()
        let clients = TLSListenerChannel.Clients(
            verifyChain: verifyChain, admit: service.admitFromMemory,
            onConnect: { [service] in try? await service.authenticate($0) }, connections: connections,
            herald: HeraldConnection(
                service: service, calls: HeraldCalls { try await routes.respond(to: $0, context: $1) },
                limits: limits, face: face))
        let fastPath = FastPath(sessions, tokens, face: face)
        let gate = gate(.client, limits)
        return application(router, at: address, gate, onRunning: onRunning) { responder in
            TLSListenerChannel(
                tls: tls, clients: clients, gate: gate, maximumStreams: limits.clientStreams, face: face,
                fastPath: fastPath, responder: responder)
        }
    }

    /// The listener for probes and Prometheus.
    ///
    /// - Parameters:
    ///   - tls: the server's certificate; `nil` for no TLS, on loopback.
    ///   - isReady: checks the store, the staleness of this node's caches and its clock.
    func makeOps(
        at address: ListenerAddress, tls: ListenerTLS?,
        isReady: @escaping @Sendable () async -> (store: Bool, view: Bool, clock: Bool),
        metrics: @escaping @Sendable () -> String, onRunning: @escaping @Sendable (Int) -> Void
    ) -> any ServiceLifecycle.Service {
        let face = face(.ops)
        let router = opsRouter(OpsRoutes(isReady: isReady, metrics: metrics))
        var limits = limits
        limits.proxiedNetworks = []
        limits.maximumConnections = min(Self.opsConnections, limits.maximumConnections)
        let gate = gate(.ops, limits)
        return application(router, at: address, gate, onRunning: onRunning) { responder -> any ServerChildChannel in
            guard let tls else { return PlainListenerChannel(gate: gate, face: face, responder: responder) }
            return TLSListenerChannel(
                tls: tls, clients: nil, gate: gate, maximumStreams: gate.limits.publicStreams, face: face,
                responder: responder)
        }
    }

    /// The probes' own limit of connections, independent of the other listeners.
    static let opsConnections = 128

    /// The listener for administrators. Only pages are answered there, by another module.
    ///
    /// - Parameter connections: the open connections, which `ConnectionTable/close(unless:)` ends.
    func makeConsole(
        at address: ListenerAddress, tls: ListenerTLS, connections: ConnectionTable, pages: @escaping Pages,
        onRunning: @escaping @Sendable (Int) -> Void
    ) -> any ServiceLifecycle.Service {
        let face = face(.console)
        var limits = limits
        limits.maximumConnections = min(Self.consoleConnections, limits.maximumConnections)
        // Before its handshake a connection belongs to nobody. So one network cannot take all of them.
        let most = Self.consoleConnections / 2
        limits.connectionsPerSender = NetworkLimits(
            perAddress: min(most, limits.connectionsPerSender.perAddress),
            per56: min(most, limits.connectionsPerSender.per56), per48: min(most, limits.connectionsPerSender.per48))
        let gate = gate(.console, limits)
        // The TLS library verifies chains: the authority is a root.
        let clients = TLSListenerChannel.Clients(
            verifyChain: { _ in false }, admit: { _ in }, onConnect: { _ in }, connections: connections, herald: nil)
        return application(ConsoleResponder(face: face, pages: pages), at: address, gate, onRunning: onRunning) {
            TLSListenerChannel(
                tls: tls, clients: clients, gate: gate, maximumStreams: gate.limits.publicStreams, face: face,
                responder: $0)
        }
    }

    /// The limit of administrators' connections, independent of the other listeners.
    static let consoleConnections = 64

    private func application<Context: RequestContext>(
        _ router: Router<Context>, at address: ListenerAddress, _ gate: ListenerGate,
        onRunning: @escaping @Sendable (Int) -> Void,
        _ channel: @escaping @Sendable (@escaping HTTPChannelHandler.Responder) -> any ServerChildChannel
    ) -> any ServiceLifecycle.Service where Context.Source == ApplicationRequestContextSource {
        application(router.buildResponder(), at: address, gate, onRunning: onRunning, channel)
    }

    private func application<Responder: HTTPResponder>(
        _ responder: Responder, at address: ListenerAddress, _ gate: ListenerGate,
        onRunning: @escaping @Sendable (Int) -> Void,
        _ channel: @escaping @Sendable (@escaping HTTPChannelHandler.Responder) -> any ServerChildChannel
    ) -> any ServiceLifecycle.Service
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        Application(
            responder: responder, server: HTTPServerBuilder { channel($0) },
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), backlog: 1024,
                availableConnectionsDelegate: AvailableConnections(gate.accepted)),
            onServerRunning: { onRunning($0.localAddress?.port ?? 0) }, logger: logger)
    }
}

/// The routers of the listeners, with the middleware that all routes share.
extension Listeners {
    /// A router with the shared middleware and no routes yet.
    func router<Context: ListenerContext>(_ context: Context.Type, _ listener: ListenerName) -> ListedRouter<Context> {
        ListedRouter(context, listener: listener, directory: directory) { [service] in
            try service.count($0, by: $1)
        }
    }

    func publicRouter(
        certificates: CertificateRoutes, providers: ProviderRoutes, tokens: TokenRoutes, webhooks: WebhookRoutes,
        sharedSignals: SharedSignalsRoutes, discovery: DiscoveryRoutes, metadata: MetadataRoutes
    ) -> Router<PublicContext> {
        let router = router(PublicContext.self, .public)
        router.add(middleware: ErrorResponseMiddleware(face: face(.public), policy: service.policy))
        certificates.addPublic(to: router)
        providers.add(to: router)
        tokens.addPublic(to: router)
        webhooks.add(to: router)
        sharedSignals.add(to: router)
        discovery.add(to: router)
        metadata.addPublic(to: router)
        WalletRoutes(service: service).add(to: router)
        ProblemRoutes(face: face(.public)).add(to: router)
        return router.router
    }

    func clientRouter(
        certificates: CertificateRoutes, metadata: MetadataRoutes,
        tokens: TokenRoutes, sessions: SessionRoutes,
        phones: PhoneRoutes,
        cards: CardRoutes, users: UserRoutes, authorizations: AuthorizationRoutes, streams: MessageStreamRoutes
    ) -> Router<ClientContext> {
        let router = router(ClientContext.self, .client)
        router.add(
            middleware: ErrorResponseMiddleware(face: face(.client), policy: service.policy) { [service] context in
                context.current.map { service.issueNonce($0) }
            })
        router.add(middleware: RequireCertificate(service: service))
        certificates.addClient(to: router)
        metadata.addClient(to: router)
        tokens.addClient(to: router)
        sessions.add(to: router)
        let behind = RequireSession(service, allowsIdentityToken: true)
        phones.add(to: router, behind: behind)
        cards.add(to: router, behind: behind)
        users.add(to: router, behind: behind)
        authorizations.add(to: router, behind: behind)
        streams.add(to: router, behind: behind)
        return router.router
    }

    func opsRouter(_ routes: OpsRoutes) -> Router<PublicContext> {
        let router = router(PublicContext.self, .ops)
        router.add(middleware: ErrorResponseMiddleware(face: face(.ops), policy: service.policy))
        routes.add(to: router)
        return router.router
    }
}
