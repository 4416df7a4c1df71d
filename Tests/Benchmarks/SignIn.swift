import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Tokens

/// The calls of the sign-in, each as a run over 64 keep-alive connections.
struct SignIn {
    let service: RunningService
    let bare: Bare
    let limits: Limits
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let width = 64

    func run() async throws {
        report.section(
            "Sign-in",
            [
                "call", "CPU µs", "per second", "p50 ms", "p99 ms", "bare request (+ verification) µs", "CPU ÷ limit",
                "aim",
            ])
        let process = MeasuredProcess(id: service.processIdentifier)
        let devices = try await Fleet.certify(8, on: service, group: group)
        let fleet = try await Fleet.connect(devices, count: width, port: Fleet.port(service.clientURL), group: group)
        let provider = try await BenchmarkProvider(service)

        var load = try await Load.run(
            fleet, processes: [process], requests: fleet.nonceRequests(quick ? 30 : 1000), expecting: 201)
        try await row("POST /nonces", load, 0, "")

        let perConnection = quick ? 20 : 200
        var tokens: [[String]] = []
        for (name, signer, verification) in [
            ("RS256", provider.rs256, limits.rs256), ("ES256", provider.es256, limits.es256),
        ] {
            for (kind, prefix) in [("a new user", name), ("a known user", name)] {
                let minted = try await fleet.openings(perConnection, by: signer, of: provider, prefix)
                load = try await Load.run(fleet, processes: [process], requests: minted, expecting: 201)
                try await row("POST /sessions \(name), \(kind), durable", load, verification, "≤ 2.5")
                tokens = try load.answers.map { try $0.map { try $0.text("session_token") } }
            }
        }

        let checks = tokens.map { list in
            (0..<(quick ? 50 : 1500)).map { index in
                RequestBytes.make(
                    "GET", "/sessions/current",
                    headers: ["Authorization: Layer session-token=\"\(list[index % list.count])\""])
            }
        }
        load = try await Load.run(fleet, processes: [process], requests: checks, expecting: 200)
        try await row("GET /sessions/current", load, 0, "≤ 1.3")
        let check = load.microseconds
        try await introspect(tokens, provider, process)
        try await Exchanges(store: service.store, provider: provider.id, limits: limits, report: report)
            .run(fleet, process, tokens: tokens, check: check, quick: quick)
        await fleet.close()
    }

    private func introspect(
        _ tokens: [[String]], _ provider: BenchmarkProvider, _ process: MeasuredProcess
    ) async throws {
        let bearer = try provider.rs256.signer.providerToken(
            provider: provider.id, kid: provider.rs256.id, realm: "localhost", now: Date())
        let open = try Fleet.context(authority: service.path("Keys/ca.pem").path)
        var connections: [LoadConnection] = []
        for _ in 0..<width {
            connections.append(
                try await LoadConnection.open(port: Fleet.port(service.publicURL), tls: open, on: group.next()))
        }
        let backend = Fleet(devices: [], connections: connections)
        let requests = tokens.map { list in
            (0..<(quick ? 30 : 600)).map { index in
                RequestBytes.make(
                    "POST", "/introspect", headers: ["Authorization: Bearer \(bearer)"],
                    body: "token=\(list[index % list.count])", type: "application/x-www-form-urlencoded")
            }
        }
        let load = try await Load.run(backend, processes: [process], requests: requests, expecting: 200)
        try await row("POST /introspect (server TLS, RS256 bearer)", load, limits.rs256, "")
        await backend.close()
    }

    /// A line beside its limit: a bare request, measured now, and the verification.
    private func row(_ name: String, _ load: Load, _ verification: Double, _ aim: String) async throws {
        let limit = try await bare.measure().microseconds + verification
        report.row(
            name, load.microseconds.places(1), load.perSecond.places(0), load.p50.places(2), load.p99.places(2),
            limit.places(1), (load.microseconds / limit).places(2), aim)
    }
}

/// The provider of the runs, with a key of each kind.
struct BenchmarkProvider {
    struct Key: Sendable {
        let id: ProviderKeyID
        let signer: ProviderSigner
    }

    let id: ProviderID
    let application: ApplicationID
    let rs256: Key
    let es256: Key

    /// Registers two keys at the service's test provider.
    init(_ service: RunningService) async throws {
        let registered = try StrictJSON.parse(Data(contentsOf: service.path("provider.json")))
        guard let id = registered["provider_id"]?.text.flatMap({ ProviderID($0) }),
            let application = registered["app_id"]?.text.flatMap({ ApplicationID($0) })
        else { throw BenchmarkError("no provider") }
        (self.id, self.application) = (id, application)
        rs256 = try await Self.register(.rs256, on: service)
        es256 = try await Self.register(.es256, on: service)
        // The service learns of other processes' changes well inside a second.
        try await Task.sleep(for: .seconds(1))
    }

    private static func register(_ algorithm: SignatureAlgorithm, on service: RunningService) async throws -> Key {
        let signer = try ProviderSigner(algorithm)
        let file = service.path("\(algorithm.rawValue).pem")
        try signer.publicKeyPEM.write(to: file, atomically: true, encoding: .utf8)
        let added = try await service.countersign([
            "provider", "key", "add", "test", "--key", file.path, "--alg", algorithm.rawValue, "--json",
        ])
        guard let id = try StrictJSON.parse(Array(added.output.utf8))["key_id"]?.text.flatMap({ ProviderKeyID($0) })
        else { throw BenchmarkError("no key: \(added.errors)") }
        return Key(id: id, signer: signer)
    }
}
