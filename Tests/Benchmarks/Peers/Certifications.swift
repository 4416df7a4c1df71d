import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// From a request for a certificate to the certificate, at CFSSL and at the service.
extension Peers {
    /// How the requests arrive.
    private enum Way: CaseIterable {
        case connectionEach
        case openConnections

        var name: String {
            switch self {
            case .connectionEach: "a connection each, as devices come"
            case .openConnections: "over open connections: reading, signing, and what is kept"
            }
        }

        /// Its name in the summary.
        var figure: String {
            switch self {
            case .connectionEach: "a certificate, CPU µs"
            case .openConnections: "a certificate without its handshake, CPU µs"
            }
        }
    }

    private static let lanes = 16

    /// Certificates for P-256 keys, in turns. Both servers have one authority, one certificate and key, and TLS 1.3 without
    /// a client's certificate. CFSSL keeps nothing of what it issues.
    func certifications(_ own: MeasuredServer, _ cfssl: MeasuredServer) async throws {
        report.section(
            "A certificate for a P-256 key, TLS 1.3 with the same certificate and key",
            ["what", "server", "CPU µs", "÷ cfssl", "per second"])
        let servers = [cfssl, own]
        // The first requests of a process take longer.
        for server in servers { _ = try await certify(2 * Self.lanes, at: server, .openConnections) }
        var loads: [Way: [[Load]]] = [:]
        for round in 0..<rounds {
            for way in Way.allCases {
                for (index, server) in servers.enumerated() {
                    let load = try await certify(quick ? 64 : 960, at: server, way)
                    loads[way, default: [[], []]][index].append(load)
                    report.keep(Round(way.figure, server.name, round, load))
                }
            }
        }
        var medians: [[Double]] = []
        for way in Way.allCases {
            guard let found = loads[way]?.map(\.median) else { continue }
            for (server, load) in zip(servers, found) {
                row(way.name, server, load.microseconds, found[0].microseconds, load.perSecond.places(0))
            }
            medians.append(found.map(\.microseconds))
            summarize(way.figure, servers, found.map(\.microseconds))
        }
        guard medians.count == 2 else { return }
        // A handshake without a request has no end that a client sees.
        let handshakes = zip(medians[0], medians[1]).map { $0 - $1 }
        for (server, time) in zip(servers, handshakes) {
            row("the difference: the handshake and the end of its connection", server, time, handshakes[0], "")
        }
        summarize("the handshake before a certificate, CPU µs", servers, handshakes)
    }

    private func row(_ what: String, _ server: MeasuredServer, _ time: Double, _ other: Double, _ rate: String) {
        report.row(what, server.name, time.places(0), (time / other).places(2), rate)
    }

    /// Requests certificates for new keys.
    private func certify(_ count: Int, at server: MeasuredServer, _ way: Way) async throws -> Load {
        let bodies = try (0..<count).map { _ in
            let csr = try TestAuthority.certificationRequest(commonName: UUID().uuidString.lowercased())
            return server.isOwn ? Self.request(csr) : Self.requestOfCFSSL(csr)
        }
        let lists = (0..<Self.lanes).map { lane in
            stride(from: lane, to: count, by: Self.lanes).map { bodies[$0] }
        }
        let open = try Fleet.context(authority: service.path("Keys/ca.pem").path)
        let (group, port) = (group, server.openPort)
        @Sendable func connect() async throws -> LoadConnection {
            try await LoadConnection.open(port: port, tls: open, on: group.next())
        }
        let status = server.isOwn ? 201 : 200
        switch way {
        case .openConnections:
            var connections: [LoadConnection] = []
            for _ in lists { connections.append(try await connect()) }
            let fleet = Fleet(devices: [], connections: connections)
            // The handshakes, each with a first request, lie outside the measurement.
            _ = try await fleet.run(lists.map { Array($0.prefix(1)) })
            let load = try await Load.run(
                fleet, processes: server.process.family, requests: lists.map { Array($0.dropFirst()) },
                expecting: status)
            await fleet.close()
            return load
        case .connectionEach:
            let processes = server.process.family
            let before = processes.map(\.processorSeconds).reduce(0, +)
            let start = ContinuousClock.now
            let answers = try await withThrowingTaskGroup(of: [Answer].self) { tasks in
                for list in lists {
                    tasks.addTask {
                        var answers: [Answer] = []
                        for request in list {
                            let connection = try await connect()
                            answers += try await connection.run([request])
                            await connection.close()
                        }
                        return answers
                    }
                }
                return try await tasks.reduce(into: [[Answer]]()) { $0.append($1) }
            }
            let used = processes.map(\.processorSeconds).reduce(0, +) - before
            return try Load(answers, since: start, processorSeconds: used, expecting: status)
        }
    }

    private static func request(_ csr: String) -> ByteBuffer {
        let body = JSONValue.object([JSONMember(name: "csr", value: .string(csr))])
        return RequestBytes.make("POST", "/certificates", body: body.jsonText)
    }

    private static func requestOfCFSSL(_ csr: String) -> ByteBuffer {
        let body = JSONValue.object([
            JSONMember(name: "hosts", value: .array([.string("device")])),
            JSONMember(name: "certificate_request", value: .string(csr)),
        ])
        return RequestBytes.make("POST", "/api/v1/cfssl/sign", body: body.jsonText)
    }
}
