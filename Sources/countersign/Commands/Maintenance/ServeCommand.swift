import API
import ArgumentParser
import AsyncHTTPClient
import Authority
import Database
import Delivery
import Domain
import Foundation
import Logging
import Metrics
import NIOCore
import Operations
import Repositories
import ServiceLifecycle
import Synchronization
import UnixSignals

/// `countersign serve`: the listeners on one store.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the service.",
        example: "serve --realm auth.example --base-url https://auth.example")
    @OptionGroup var shared: SharedOptions
    @OptionGroup var serve: ServeOptions

    func run() async throws {
        CrashReport.leaveOutMemory()
        let settings = try Settings.resolve(shared: shared, serve: serve)
        let policy = try PolicyFiles.load(directory: settings.policies, required: settings.policiesNamed)
        try settings.requireServable(policy)
        let keys = try KeyFiles.load(directory: settings.keys, now: Date())
        let log = LogWriter(.standardError)
        LoggingSystem.bootstrap { _ in JSONLogHandler(writer: log, level: .info) }
        async let _: Void = log.run()
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        let logger = Logger(label: "countersign")
        logger.info(
            "the service starts",
            metadata: [
                "version": "\(ProgramVersion.text)", "store": "\(settings.store.place)", "realm": "\(settings.realm)",
                "keys": "\(settings.keys)", "policies": "\(settings.policies)",
            ])
        defer { logger.info("the service ends") }
        let collector = SpanCollector(settings.otlpEndpoint)
        let waits = StoreWaits(tracer: collector?.tracer)
        let store = ObservedDatabase(try settings.store.open(clock: { Date() }), observe: waits.record)
        let isNew = try await store.prepare(for: settings.cell, at: settings.store)
        if isNew { logger.notice("a new store was created", metadata: ["store": "\(settings.store.place)"]) }
        try await store.requireMode(isDevelopment: settings.isDevelopment, at: settings.store)
        if settings.isDevelopment {
            logger.notice(
                "development mode: only for this machine",
                metadata: ["limits": "\(settings.limits ? "on" : "off")", "texts": "\(settings.texts)"])
        }
        let generation = try await store.read { try RestoreRepository($0).nonceGeneration() }
        let nonceKey = keys.nonceSecrets.key(generation: generation, in: settings.cell)
        try await HTTPClient.withHTTPClient(configuration: .delivery(policy.delivery)) { http in
            let server = try Server(
                settings: settings, policy: CurrentPolicy(policy), keys: keys, nonceKey: nonceKey,
                exportKey: keys.nonceSecrets.exportKey(generation: generation), store: store,
                registry: registry, collector: collector, deliveryHTTPClient: http, logger: logger)
            try await server.run()
        }
        try await store.close()
    }
}
