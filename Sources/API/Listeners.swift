import Foundation
import Hummingbird
import HummingbirdCore
import Identity
import Logging
import NIOCore
import NIOSSL
import Operations
import ServiceLifecycle
import Synchronization

/// Where a listener listens.
public struct ListenerAddress: Sendable {
    let host: String
    let port: Int

    /// A host and a port; port 0 takes a free one.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

/// The service's own certificate and, on the client listener, the authorities whose certificates it takes.
public final class ListenerTLS: Sendable {
    private let clientAuthorities: [[UInt8]]
    private let context: Mutex<NIOSSLContext>

    /// Reads the server's chain and key. Each listener has a context, and so ticket keys, of its own.
    ///
    /// - Parameter clientAuthorities: DER certificates; empty where clients need no certificate.
    public init(chainPEM: [UInt8], keyPEM: [UInt8], clientAuthorities: [[UInt8]]) throws {
        self.clientAuthorities = clientAuthorities
        context = Mutex(try Self.context(chainPEM: chainPEM, keyPEM: keyPEM, clientAuthorities: clientAuthorities))
    }

    /// Puts another chain and key of the server into use, for connections that are made from now on.
    public func replace(chainPEM: [UInt8], keyPEM: [UInt8]) throws {
        let new = try Self.context(chainPEM: chainPEM, keyPEM: keyPEM, clientAuthorities: clientAuthorities)
        context.withLock { $0 = new }
    }

    /// What the next connection is accepted with.
    var sslContext: NIOSSLContext { context.withLock { $0 } }

    private static func context(
        chainPEM: [UInt8], keyPEM: [UInt8], clientAuthorities: [[UInt8]]
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(chainPEM).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: keyPEM, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        if !clientAuthorities.isEmpty {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(
                try clientAuthorities.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            configuration.sendCANameList = true
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// Builds the three listeners from their routes.
public struct Listeners: Sendable {
    let realm: String
    let policy: CurrentPolicy
    /// Those of the start: a channel's limits stay as they are.
    let limits: RequestPolicy
    let open: OpenChannels
    let logger: Logger

    /// Shares a realm, limits, a list of what is open, and a logger.
    public init(realm: String, policy: CurrentPolicy, open: OpenChannels, logger: Logger) {
        self.realm = realm
        self.policy = policy
        limits = policy[\.requests]
        self.open = open
        self.logger = logger
    }

    /// The listener for devices without a certificate and for provider backends.
    public func makePublic(
        at address: ListenerAddress, tls: ListenerTLS, certificates: CertificateRoutes, providers: ProviderRoutes,
        webhooks: WebhookRoutes, discovery: DiscoveryRoutes, onRunning: @escaping @Sendable (Int) -> Void
    ) -> any Service {
        let router = Router(context: PublicContext.self)
        router.add(middleware: Boundary(listener: "public", realm: realm, policy: policy, freshNonce: { _ in nil }))
        certificates.addPublic(to: router)
        providers.add(to: router)
        webhooks.add(to: router)
        discovery.add(to: router)
        return application(router, at: address, onRunning: onRunning) { responder in
            TLSListenerChannel(
                tls: tls, verifyChain: nil, onConnect: { _ in }, connections: ConnectionTable(),
                limits: limits, open: open, responder: responder)
        }
    }

    /// The mutual-TLS listener for certified devices.
    public func makeClient(
        at address: ListenerAddress, tls: ListenerTLS, verifyChain: @escaping @Sendable ([[UInt8]]) -> Bool,
        connections: ConnectionTable, judge: JudgePeer, certificates: CertificateRoutes, sessions: SessionRoutes,
        phones: PhoneRoutes, cards: CardRoutes, users: UserRoutes, authorizations: AuthorizationRoutes,
        onRunning: @escaping @Sendable (Int) -> Void
    ) -> any Service {
        let router = Router(context: ClientContext.self)
        router.add(
            middleware: Boundary(listener: "client", realm: realm, policy: policy) { context in
                context.current.map { sessions.issueNonce($0) }
            })
        router.add(middleware: JudgeCertificate(judge: judge))
        certificates.addClient(to: router)
        sessions.add(to: router)
        let behind = RequireSession(
            check: sessions.check, open: sessions.open, realm: realm, allowsIdentityToken: true)
        phones.add(to: router, behind: behind)
        cards.add(to: router, behind: behind)
        users.add(to: router, behind: behind)
        authorizations.add(to: router, behind: behind)
        // A failure is said to the first request, which is judged again.
        let onConnect: @Sendable (ClientConnection) async -> Void = { try? await judge($0) }
        return application(router, at: address, onRunning: onRunning) { responder in
            TLSListenerChannel(
                tls: tls, verifyChain: verifyChain, onConnect: onConnect, connections: connections,
                limits: limits, open: open, responder: responder)
        }
    }

    /// The listener for probes and Prometheus.
    ///
    /// - Parameter tls: the server's certificate; `nil` speaks without TLS, for loopback.
    public func makeOps(
        at address: ListenerAddress, tls: ListenerTLS?, routes: OpsRoutes, onRunning: @escaping @Sendable (Int) -> Void
    ) -> any Service {
        let router = Router(context: PublicContext.self)
        router.add(middleware: Boundary(listener: "ops", realm: realm, policy: policy, freshNonce: { _ in nil }))
        routes.add(to: router)
        return application(router, at: address, onRunning: onRunning) { responder -> any ServerChildChannel in
            guard let tls else { return PlainListenerChannel(limits: limits, open: open, responder: responder) }
            var limits = limits
            limits.proxiedNetworks = []
            return TLSListenerChannel(
                tls: tls, verifyChain: nil, onConnect: { _ in }, connections: ConnectionTable(),
                limits: limits, open: open, responder: responder)
        }
    }

    private func application<Context: RequestContext>(
        _ router: Router<Context>, at address: ListenerAddress, onRunning: @escaping @Sendable (Int) -> Void,
        _ channel: @escaping @Sendable (@escaping HTTPChannelHandler.Responder) -> any ServerChildChannel
    ) -> any Service where Context.Source == ApplicationRequestContextSource {
        Application(
            router: router, server: HTTPServerBuilder { channel($0) },
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.maximumConnections)),
            onServerRunning: { onRunning($0.localAddress?.port ?? 0) }, logger: logger)
    }
}
