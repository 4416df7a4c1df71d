import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOHPACK
import NIOPosix
import Tokens

/// Each call at the service and at its peers in turns, with one load program: 32 keep-alive connections over TLS 1.3.
struct Peers {
    let service: RunningService
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let width = 32
    var rounds: Int { quick ? 1 : 3 }

    func run() async throws {
        let devices = try await Fleet.certify(8, on: service, group: group)
        let provider = try await BenchmarkProvider(service)
        let own = MeasuredServer(
            name: "Countersign", process: MeasuredProcess(id: service.processIdentifier),
            port: Fleet.port(service.clientURL), openPort: Fleet.port(service.publicURL))
        let fleet = try await Fleet.connect(devices, count: width, port: own.port, group: group)
        let opened = try await fleet.run(
            try await fleet.openings(quick ? 5 : 50, by: provider.rs256, of: provider, "peers"))
        await fleet.close()
        let tokens = try opened.map { try $0.map { try $0.text("session_token") } }
        let bearer = try provider.rs256.signer.providerToken(
            provider: provider.id, kid: provider.rs256.id, realm: "localhost", now: Date())
        let peers = try await PeerServers.start(
            beside: service, tokens: tokens.flatMap { $0 }, provider: provider, bearer: bearer)
        defer { peers.stop() }
        let servers = peers.all.map(\.server) + [own]

        report.section(
            "Beside other servers: 32 connections, TLS 1.3, one log line a request",
            ["call", "server", "CPU µs", "÷ nginx", "÷ node", "per second", "p50 ms", "p99 ms"])
        try await checks(servers, devices, tokens)
        try await streamedChecks(servers, devices, tokens)
        try await nonces(servers, devices)
        for key in [provider.rs256, provider.es256] { try await signIns(servers, devices, key, provider) }
        try await introspections(servers, tokens, bearer)

        try await certifications(own, peers.cfssl.server)

        try await handshakes(servers, devices[0])
        try await idle(servers, devices)
    }

    // MARK: Calls

    private func checks(_ servers: [MeasuredServer], _ devices: [LoadDevice], _ tokens: [[String]]) async throws {
        let requests = tokens.map { list in
            (0..<(quick ? 100 : 3000)).map { index in
                RequestBytes.make(
                    "GET", "/sessions/current",
                    headers: ["Authorization: Layer session-token=\"\(list[index % list.count])\""])
            }
        }
        try await compare("GET /sessions/current", servers, devices, expecting: 200) { _ in requests }
    }

    /// The same over HTTP/2, a stream for each request; the one of Node.js has no such listener.
    private func streamedChecks(
        _ servers: [MeasuredServer], _ devices: [LoadDevice], _ tokens: [[String]]
    ) async throws {
        let fields = tokens.map { list in
            list.map { token -> HPACKHeaders in
                [
                    ":method": "GET", ":scheme": "https", ":path": "/sessions/current", ":authority": "localhost",
                    "authorization": "Layer session-token=\"\(token)\"",
                ]
            }
        }
        let authority = service.path("Keys/ca.pem").path
        try await compare("GET /sessions/current over HTTP/2", servers.filter { $0.name != "node" }) { server in
            let streams = try await StreamLoad.connect(
                devices, count: width, port: server.port, authority: authority, group: group)
            let processes = server.process.family
            _ = try await streams.run(fields, count: 1, processes: processes, expecting: 200)
            let load = try await streams.run(
                fields, count: quick ? 30 : 500, processes: processes, expecting: 200)
            await streams.close()
            return load
        }
    }

    private func nonces(_ servers: [MeasuredServer], _ devices: [LoadDevice]) async throws {
        let count = quick ? 100 : 3000
        try await compare("POST /nonces", servers, devices, expecting: 201) { $0.nonceRequests(count) }
    }

    /// Of users that both know from the round before; nginx has no answer to that.
    private func signIns(
        _ servers: [MeasuredServer], _ devices: [LoadDevice], _ key: BenchmarkProvider.Key,
        _ provider: BenchmarkProvider
    ) async throws {
        let algorithm = key.signer.algorithm.rawValue
        let count = quick ? 5 : 150
        let able = servers.filter { $0.name != "nginx" }
        for server in able {
            let fleet = try await Fleet.connect(devices, count: width, port: server.port, group: group)
            _ = try await fleet.run(try await fleet.openings(count, by: key, of: provider, "peer \(algorithm)"))
            await fleet.close()
        }
        try await compare("POST /sessions \(algorithm), a known user", able, devices, expecting: 201) { fleet in
            try await fleet.openings(count, by: key, of: provider, "peer \(algorithm)")
        }
    }

    private func introspections(_ servers: [MeasuredServer], _ tokens: [[String]], _ bearer: String) async throws {
        let requests = tokens.map { list in
            (0..<(quick ? 50 : 1000)).map { index in
                RequestBytes.make(
                    "POST", "/introspect", headers: ["Authorization: Bearer \(bearer)"],
                    body: "token=\(list[index % list.count])", type: "application/x-www-form-urlencoded")
            }
        }
        try await compare("POST /introspect, a known bearer", servers, nil, expecting: 200) { _ in requests }
    }

    /// - Parameter devices: show their certificates; `nil` for TLS of the server alone.
    private func compare(
        _ call: String, _ servers: [MeasuredServer], _ devices: [LoadDevice]?, expecting status: Int,
        _ requests: (Fleet) async throws -> [[ByteBuffer]]
    ) async throws {
        try await compare(call, servers) { server in
            let fleet = try await connect(devices, to: server)
            // The handshakes lie outside the measurement.
            _ = try await fleet.run(fleet.nonceRequests(1))
            let list = try await requests(fleet)
            let load = try await Load.run(
                fleet, processes: server.process.family, requests: list, expecting: status)
            await fleet.close()
            return load
        }
    }

    /// Measures each server in turns, and writes the median of each.
    private func compare(
        _ call: String, _ servers: [MeasuredServer], _ measure: (MeasuredServer) async throws -> Load
    ) async throws {
        var loads = [[Load]](repeating: [], count: servers.count)
        for round in 0..<rounds {
            for (index, server) in servers.enumerated() {
                let load = try await measure(server)
                loads[index].append(load)
                report.keep(Round(call, server.name, round, load))
            }
        }
        let medians = loads.map(\.median)
        func ratio(_ load: Load, to name: String) -> String {
            guard let peer = servers.firstIndex(where: { $0.name == name }) else { return "" }
            return (load.microseconds / medians[peer].microseconds).places(2)
        }
        for (server, load) in zip(servers, medians) {
            report.row(
                call, server.name, load.microseconds.places(1), ratio(load, to: "nginx"), ratio(load, to: "node"),
                load.perSecond.places(0), load.p50.places(2), load.p99.places(2))
        }
        summarize("\(call), CPU µs", servers, medians.map { $0.microseconds })
    }

    /// Keeps a figure of each server for the summary.
    func summarize(_ figure: String, _ servers: [MeasuredServer], _ values: [Double]) {
        guard let own = zip(servers, values).first(where: { $0.0.isOwn })?.1 else { return }
        for (server, value) in zip(servers, values) where !server.isOwn {
            report.compare(figure, own, with: server.name, value)
        }
    }

    private func connect(_ devices: [LoadDevice]?, to server: MeasuredServer) async throws -> Fleet {
        if let devices { return try await Fleet.connect(devices, count: width, port: server.port, group: group) }
        let open = try Fleet.context(authority: service.path("Keys/ca.pem").path)
        var connections: [LoadConnection] = []
        for _ in 0..<width {
            connections.append(try await LoadConnection.open(port: server.openPort, tls: open, on: group.next()))
        }
        return Fleet(devices: [], connections: connections)
    }
}
