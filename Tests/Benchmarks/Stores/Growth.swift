import Database
import Domain
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Repositories

/// How the cost of a sign-in grows with the sessions that are stored and with the nodes that share the store.
struct Growth {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let width = 60
    private var perConnection: Int { quick ? 10 : 50 }
    private var sizes: [Int] { quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000] }

    func run() async throws {
        report.section(
            "Growth: sessions stored and nodes on one store, all on this machine's processors",
            [
                "store", "sessions stored", "nodes", "create: node CPU µs", "store CPU µs", "per second", "p99 ms",
                "check, first sight: node CPU µs", "check, known: node CPU µs", "per second", "end: per second",
                "p99 ms",
            ])
        let single = try await RunningService()
        try await rows("SQLite", [single], server: nil)
        _ = single.stop()
        let cluster = try PostgreSQLCluster(settings: ["shared_preload_libraries=pg_stat_statements"])
        try cluster.run("CREATE EXTENSION pg_stat_statements")
        let address = try cluster.address(of: "growth")
        let first = try await RunningService(store: address)
        let nodes = [first, try RunningService(besides: first), try RunningService(besides: first)]
        try await rows("PostgreSQL", nodes, server: cluster)
        try await statements(first, cluster)
        for node in nodes { _ = node.stop() }
    }

    private func rows(_ name: String, _ nodes: [RunningService], server: PostgreSQLCluster?) async throws {
        let devices = try await Fleet.certify(8, on: nodes[0], group: group)
        let provider = try await BenchmarkProvider(nodes[0])
        var stored = 0
        for size in sizes {
            try await SeededSessions(
                store: nodes[0].store, isPostgreSQL: server != nil, device: devices[0], provider: provider
            ).add(size - stored, from: stored)
            stored = size
            for count in 1...nodes.count {
                do {
                    try await row(name, size, Array(nodes.prefix(count)), devices, provider, server)
                } catch {
                    report.row(
                        name, size.formatted(), "\(count)", "not measured: \(error)", "", "", "", "", "", "", "", "")
                }
            }
        }
    }

    private func row(
        _ name: String, _ size: Int, _ nodes: [RunningService], _ devices: [LoadDevice], _ provider: BenchmarkProvider,
        _ server: PostgreSQLCluster?
    ) async throws {
        let processes = nodes.map { MeasuredProcess(id: $0.processIdentifier) }
        let fleet = try await connect(devices, to: nodes)
        let openings = try await fleet.openings(
            perConnection, by: provider.rs256, of: provider, "\(size)-\(nodes.count)")
        let before = seconds(of: server)
        let created = try await Load.run(fleet, processes: processes, requests: openings, expecting: 201)
        let storeSeconds = seconds(of: server) - before
        let tokens = try created.answers.map { try $0.map { try $0.text("session_token") } }
        await fleet.close()

        // Another node than the one that opened it, or the same one after it was started anew, sees a session first.
        if nodes.count == 1 { try restart(nodes[0]) }
        let fresh = nodes.count == 1 ? [MeasuredProcess(id: nodes[0].processIdentifier)] : processes
        let others = try await connect(devices, to: nodes, shift: 1)
        let checks = tokens.map { list in
            list.map {
                RequestBytes.make(
                    "GET", "/sessions/current", headers: ["Authorization: Layer session-token=\"\($0)\""])
            }
        }
        let seen = try await Load.run(others, processes: fresh, requests: checks, expecting: 200)
        let known = try await Load.run(
            others, processes: fresh, requests: checks.map { [ByteBuffer](repeating: $0, times: 8) }, expecting: 200)
        let ends = tokens.map { list in
            list.map {
                RequestBytes.make(
                    "DELETE", "/sessions/current", headers: ["Authorization: Layer session-token=\"\($0)\""])
            }
        }
        let ended = try await Load.run(others, processes: fresh, requests: ends, expecting: 204)
        await others.close()
        report.row(
            name, size.formatted(), "\(nodes.count)", created.microseconds.places(0),
            server == nil ? "in the node" : (storeSeconds * 1e6 / Double(width * perConnection)).places(0),
            created.perSecond.places(0), created.p99.places(1), seen.microseconds.places(0),
            known.microseconds.places(0), known.perSecond.places(0), ended.perSecond.places(0), ended.p99.places(1))
    }

    /// Connections in turn to each node; each device's are always the same of the fleet's.
    private func connect(_ devices: [LoadDevice], to nodes: [RunningService], shift: Int = 0) async throws -> Fleet {
        var connections: [LoadConnection] = []
        for index in 0..<width {
            connections.append(
                try await LoadConnection.open(
                    port: Fleet.port(nodes[(index + shift) % nodes.count].clientURL),
                    tls: devices[index % devices.count].tls, on: group.next()))
        }
        return Fleet(devices: devices, connections: connections)
    }

    private func seconds(of server: PostgreSQLCluster?) -> Double {
        guard let server else { return 0 }
        return MeasuredProcess(id: server.processIdentifier).family.map(\.processorSeconds).reduce(0, +)
    }

    private func restart(_ node: RunningService) throws {
        _ = node.stop()
        try node.start()
    }

    /// What one operation asks of PostgreSQL, by the server's own count.
    private func statements(_ node: RunningService, _ cluster: PostgreSQLCluster) async throws {
        report.section(
            "Statements that an operation asks of PostgreSQL, BEGIN and COMMIT among them",
            ["operation", "statements each", "transactions run again", "aim"])
        let devices = try await Fleet.certify(1, on: node, group: group)
        let provider = try await BenchmarkProvider(node)
        let fleet = try await connect(devices, to: [node])
        let count = width * perConnection
        for (name, prefix) in [("creating a session, a new user", "s"), ("creating a session, a known user", "s")] {
            let openings = try await fleet.openings(perConnection, by: provider.rs256, of: provider, prefix)
            try cluster.run("SELECT pg_stat_statements_reset()")
            let takenBack = try await Self.takenBack(cluster)
            let answers = try await fleet.run(openings)
            let again = Double(try await Self.takenBack(cluster) - takenBack) / Double(count) * 100
            report.row(
                name, (try Self.calls(cluster) / Double(count)).places(2), "\(again.places(1)) %",
                "2 waits (SignInStatementTests)")
            let checks = try answers.map { list in
                try list.map {
                    RequestBytes.make(
                        "GET", "/sessions/current",
                        headers: ["Authorization: Layer session-token=\"\(try $0.text("session_token"))\""])
                }
            }
            try cluster.run("SELECT pg_stat_statements_reset()")
            _ = try await fleet.run(checks)
            report.row("checking a known session", (try Self.calls(cluster) / Double(count)).places(2), "", "none")
        }
        await fleet.close()
        for table in ["sessions", "users"] {
            let room = try cluster.run(
                "SELECT pg_total_relation_size('growth.\(table)') / GREATEST(COUNT(*), 1) FROM growth.\(table)")
            report.row(
                "bytes that a row of \(table) takes with its indexes",
                room.trimmingCharacters(in: .whitespacesAndNewlines), "", "")
        }
    }

    /// How many transactions the server took back so far; it tells that a second late.
    static func takenBack(_ cluster: PostgreSQLCluster) async throws -> Int {
        try await Task.sleep(for: .seconds(2))
        let text = try cluster.run("SELECT xact_rollback FROM pg_stat_database WHERE datname = 'postgres'")
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Without the looks at the change log, ten a second, the heartbeats, and the transactions around them.
    private static func calls(_ cluster: PostgreSQLCluster) throws -> Double {
        let text = try cluster.run(
            """
            SELECT COALESCE(SUM(CASE WHEN query LIKE '%READ ONLY%' THEN -calls
                WHEN query LIKE '%pg_logical_emit_message%' THEN -2 * calls ELSE calls END), 0) FROM pg_stat_statements
            WHERE query NOT LIKE '%change%' AND query NOT LIKE '%pg_stat%' AND query NOT LIKE '%lock_timeout%'
            """)
        return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
    }
}

extension [ByteBuffer] {
    /// The list so often in a row.
    init(repeating list: [ByteBuffer], times: Int) {
        self = (0..<times).flatMap { _ in list }
    }
}
