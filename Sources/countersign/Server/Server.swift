import API
import AsyncHTTPClient
import Authority
import Console
import Crypto
import Database
import Delivery
import Domain
import Encoding
import Foundation
import Logging
import Operations
import Repositories
import ServiceLifecycle
import Synchronization
import Tokens
import UnixSignals

/// Assembles the service: caches, operations, routes, listeners, and background loops.
struct Server: Sendable {
    let settings: Settings
    let policy: CurrentPolicy
    let keys: LoadedKeys
    /// Derived from the nonce secret and the store's generation.
    let nonceKey: NonceKey
    let exportKey: ExportKey
    let store: any Database
    let registry: PrometheusRegistry
    /// Exports a span of each request; `nil` if tracing is off.
    let collector: SpanCollector?
    /// The HTTP client for texts and push messages.
    let deliveryHTTPClient: HTTPClient
    let logger: Logger

    let environment: Environment
    let outboxSignal = LoopSignal()
    private let revocationSignal = LoopSignal()
    private let connections = ConnectionTable()
    /// The common parameters of all operations.
    let service: Operations.Service
    let watch: CacheInvalidator
    private let revocations: RevocationLists
    private let ports: Ports
    let server: CurrentServer
    private let clientTLS: ListenerTLS
    private let publicTLS: ListenerTLS
    private let opsTLS: ListenerTLS?
    /// `nil` if it is off.
    let console: ConsoleListener?
    private let open = OpenChannels()

    init(
        settings: Settings, policy: CurrentPolicy, keys: LoadedKeys, nonceKey: NonceKey, exportKey: ExportKey,
        store: any Database,
        registry: PrometheusRegistry, collector: SpanCollector?, deliveryHTTPClient: HTTPClient, logger: Logger
    ) throws {
        self.settings = settings
        self.policy = policy
        self.keys = keys
        self.nonceKey = nonceKey
        self.exportKey = exportKey
        self.store = store
        self.registry = registry
        self.collector = collector
        self.deliveryHTTPClient = deliveryHTTPClient
        self.logger = logger
        let connections = connections
        let environment = Environment(cell: settings.cell)
        self.environment = environment
        let outboxSignal = outboxSignal
        let revocationSignal = revocationSignal
        let authorities = keys.authorities
        let revocations = RevocationLists(
            ([authorities.current] + authorities.others).map {
                PublishRevocationList(store: store, authority: $0, environment: environment)
            })
        self.revocations = revocations
        let node = ServingNode(
            caches: Caches(store: store), onMessage: { outboxSignal.ring() }, onUserBan: { connections.detach($0) },
            onDeviceChange: { _ in
                revocations.suspect()
                connections.closeInvalid(at: environment.now())
            }, onBulkRevocation: { revocationSignal.ring() })
        let onForeignLog: @Sendable () -> Void = {
            logger.warning(
                "\(NodeRefusal.foreignLog.what): a new log was started",
                metadata: ["remedy": "\(NodeRefusal.foreignLog.mend)"])
        }
        watch = CacheInvalidator(
            store: store, node: node, policy: policy, environment: environment, nonceGeneration: nonceKey.generation,
            onForeignLog: onForeignLog
        ) { isRight in
            if isRight {
                logger.notice("this machine's clock agrees with the store's again")
            } else {
                logger.error("this machine's clock differs too much from the store's: requests are refused")
            }
        }
        let ports = Ports(of: 3 + [settings.stunAddress, settings.consoleAddress].compactMap(\.self).count)
        self.ports = ports
        service = Operations.Service(
            realm: settings.realm,
            urls: ServiceURLs(
                publicURL: { settings.publicURL(port: ports.port(.publicListener)) },
                clientURL: { settings.clientURL(port: ports.port(.client)) }),
            keys: ServiceKeys(
                personal: keys.personal, phoneCodes: keys.phoneCodes, nonces: nonceKey, exports: exportKey,
                accessTokens: keys.accessTokens, authority: authorities.current, otherAuthorities: authorities.others),
            rateLimiting: settings.limits ? .on : .off, node: node, invalidator: watch,
            development: settings.isDevelopment
                ? .writing(to: settings.texts, now: environment.now) : nil,
            wallet: try WalletFiles.wallet(
                in: settings.keys, policy: policy, allowsLoopback: settings.allowsLoopbackURLs, now: environment.now),
            attestation: try AttestationFiles.verifier(in: "\(settings.keys)/\(AttestationFiles.name)")
        ) { [allowsLoopback = settings.allowsLoopbackURLs] issuer in
            await KeySetReader(policy[\.delivery], allowingLoopback: allowsLoopback)(issuer)
        }
        server = CurrentServer(keys.server)
        let chain = Array(keys.server.chainPEM.utf8)
        let key = Array(keys.server.keyPEM.reveal().utf8)
        publicTLS = try ListenerTLS(chainPEM: chain, keyPEM: key, clients: nil)
        console = try ConsoleListener(settings, chain: chain, key: key)
        opsTLS = try settings.opsTLS ? ListenerTLS(chainPEM: chain, keyPEM: key, clients: nil) : nil
        clientTLS = try ListenerTLS(
            chainPEM: chain, keyPEM: key,
            clients: .init(
                authorities: authorities.chains, areRoots: ClientChain(trusting: authorities.chains).areRoots,
                isTLS13Only: policy[\.requests].clientTLS == .tls13))
    }

    /// Runs until a signal stops the service. Pending requests are finished within the policy's time limit.
    func run() async throws {
        try await watch.poll()
        try requireClock()
        // The housekeeping repeats it every minute, and reports why a list cannot be used.
        try? await service.refreshTrust()
        warnOfOtherHosts(server.present)
        addGauges()
        let listening = Listening(
            listeners: try listeners(), open: open, timeout: .seconds(policy[\.requests].shutdownTimeout),
            logger: logger)
        let node = node()
        // Stopped in reverse order, so the caches stay current until the last request.
        let spans = collector.map { collector in
            Loop(
                name: "spans", logger: logger,
                body: collector.loop(instance: node.id.description, http: deliveryHTTPClient))
        }
        var services: [any ServiceLifecycle.Service] =
            [
                Loop(name: "node", logger: logger, body: nodeLoop(node)),
                Loop(name: "store watch", logger: logger, body: storeLoop),
                Loop(name: "housekeeping", logger: logger, body: try housekeepingLoop()),
                Loop(name: "reload", logger: logger) { [self] in await reload(node) },
                Loop(name: "backlog", logger: logger, body: backlogLoop()),
                Loop(name: "outbox", logger: logger, body: try outboxLoop()),
                Loop(name: "ended sessions", logger: logger) { [logger, revocationSignal, service] in
                    await EndRevokedSessions(service).run(revocationSignal) {
                        logger.error(
                            "could not mark revoked sessions as ended in the store",
                            metadata: ["cause": .string(ErrorWords.of($0))])
                    }
                },
                Loop(name: "issuers", logger: logger, body: issuersLoop()),
                Loop(name: "attestations", logger: logger, body: attestationsLoop()),
                Loop(name: "audit sealer", logger: logger, body: auditLoop()),
                Loop(name: "last uses", logger: logger, body: lastUsesLoop()),
                Loop(name: "sign-ins", logger: logger, body: signInsLoop()),
                Loop(name: "presence", logger: logger, body: presenceLoop(node.id)),
            ] + consoleLoops() + [listening]
        // The first service in the list stops last, so it sends the spans of the shutdown.
        if let spans { services.insert(spans, at: 0) }
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(policy[\.requests].shutdownTimeout + 5)
        try await join(node)
        try await ServiceGroup(configuration: configuration).run()
    }

    /// Uses another certificate for new connections on all listeners, or on none if one fails.
    func present(_ identity: ServerIdentity) throws {
        let chain = Array(identity.chainPEM.utf8)
        let key = Array(identity.keyPEM.reveal().utf8)
        for tls in [publicTLS, clientTLS, opsTLS, console?.tls].compactMap(\.self) {
            try tls.replace(chainPEM: chain, keyPEM: key)
        }
    }

    private func listeners() throws -> [Listening.Listener] {
        let listeners = Listeners(
            service, maximumConnections: try affordableConnections(), open: open,
            urls: { [urls = service.urls] in [ListenerName.public: urls.issuer, .client: urls.client][$0] },
            tracer: collector?.tracer, logger: logger)
        registry.addGauge("response_bytes_claimed") { [accounts = listeners.accounts] in Double(accounts.claimed) }
        let ready: @Sendable (Ports.Listener) -> @Sendable (Int) -> Void = { listener in
            { [self] port in
                if ports.set(listener, port) { sayReady() }
            }
        }
        let captcha = SiteVerify(http: deliveryHTTPClient) { try KeyFile(path: $0, isPrivate: true).read() }
        let certificateRoutes = CertificateRoutes(service, publish: revocations) { [policy] in
            try await captcha.accepts($0, by: policy[\.certification])
        }
        let clientChain = try ClientChain(trusting: keys.authorities.chains)
        let open = listeners.makePublic(
            at: settings.publicAddress.listener, tls: publicTLS, certificates: certificateRoutes,
            allowsLoopback: settings.allowsLoopbackURLs,
            pins: { [server] in [server.present.pin.base64URL, server.present.nextPin.base64URL] },
            webKeys: keys.webKeys, onRunning: ready(.publicListener))
        let client = listeners.makeClient(
            at: settings.clientAddress.listener, tls: clientTLS,
            verifyChain: { [environment] chain in
                (try? clientChain.verify(chain, now: environment.now())) != nil
            },
            connections: connections, certificates: certificateRoutes, askIssuer: try askIssuer(),
            turnSecret: try turnSecret(), onRunning: ready(.client))
        let ops = listeners.makeOps(
            at: settings.opsAddress.listener, tls: opsTLS, isReady: { [self] in await readiness() },
            metrics: { [registry] in registry.render() }, onRunning: ready(.ops))
        return [
            .init(name: "public", address: settings.publicAddress, service: open),
            .init(name: "client", address: settings.clientAddress, service: client),
            .init(name: "ops", address: settings.opsAddress, service: ops),
        ] + stunListener(onRunning: ready(.stun)) + consoleListener(listeners, onRunning: ready(.console))
    }

    /// The maximum number of connections by the policy, reduced to what the limit on file descriptors permits.
    private func affordableConnections() throws -> Int {
        let wanted = policy[\.requests].maximumConnections
        let operators = Listeners.opsConnections + (console == nil ? 0 : Listeners.consoleConnections)
        let needed = ConnectionBudget.descriptors(for: wanted, probes: operators)
        let descriptors = FileDescriptors.raise(to: needed)
        let mend = "raise the limit on open files (ulimit -Hn, or LimitNOFILE= of the unit) to \(needed)"
        guard
            let connections = ConnectionBudget.connections(
                of: wanted, probes: operators, descriptors: descriptors)
        else { throw CommandFailure("\(descriptors) file descriptors are too few: \(mend).") }
        if connections < wanted {
            // On loopback this is normal on most machines and needs no attention.
            logger.log(
                level: settings.isLoopbackOnly ? .info : .warning,
                "the limit on open files is too low for maximum_connections: \(mend)",
                metadata: ["connections": "\(connections)", "descriptors": "\(descriptors)"])
        }
        return connections
    }

    private func addGauges() {
        let sessions = service.node.caches.sessions
        registry.addGauge("sessions_in_memory") { Double(sessions.count) }
        registry.addGauge("sessions_live") { [environment, policy] in
            Double(sessions.countLive(now: environment.now(), policy: policy[\.sessions]))
        }
        registry.addGauge("store_view_age_seconds") { [watch] in watch.age }
        registry.addGauge("store_oldest_transaction_seconds") { [watch] in watch.horizonAge }
        registry.addGauge("store_clock_difference_seconds") { [watch] in watch.clockDifference }
        registry.addGauge("waiting") { [node = service.node] in Double(node.waiting) }
        registry.addGauge("connections") { [connections] in Double(connections.count) }
        registry.addGauge("build_info", [("version", ProgramVersion.release), ("commit", ProgramVersion.commit)]) { 1 }
        registry.addGauge("certificate_end_timestamp_seconds", [("certificate", "server")]) { [server] in
            server.present.notAfter.timeIntervalSince1970
        }
        registry.addGauge("certificate_end_timestamp_seconds", [("certificate", "authority")]) { [keys] in
            keys.authorities.current.notAfter.timeIntervalSince1970
        }
        for data in ReferenceData.all {
            registry.addGauge("reference_data_timestamp_seconds", [("data", data.name)]) {
                data.date.start.timeIntervalSince1970
            }
        }
        registry.addPage { ProcessUsage.lines() }
    }

    private func sayReady() {
        let ready: JSONValue = .object([
            "ready": .bool(true), "realm": .string(settings.realm),
            "public": .string(settings.publicAddress.host(port: ports.port(.publicListener))),
            "client": .string(settings.clientAddress.host(port: ports.port(.client))),
            "ops": .string(settings.opsAddress.host(port: ports.port(.ops))),
            "stun": settings.stunAddress.map { .string($0.host(port: ports.port(.stun))) },
            "console": settings.consoleAddress.map { .string($0.host(port: ports.port(.console))) },
            "limits": .string(settings.limits ? "on" : "off"),
            "development": settings.isDevelopment ? .bool(true) : nil,
        ])
        Output.show(Report(json: ready), asJSON: true)
        ReadinessNotification.send()
    }
}
