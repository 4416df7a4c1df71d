import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// Bans of the command line while three nodes end sessions as fast as they can: whoever bans must not wait in line behind
/// the users who leave.
struct BansUnderEnds {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let width = 24
    private var perConnection: Int { quick ? 200 : 1000 }
    private var bans: Int { quick ? 10 : 40 }

    func run() async throws {
        report.section(
            "Bans while three nodes on one PostgreSQL (fsync on) end sessions without a pause",
            ["what", "per second", "p50 ms", "p99 ms", "last ms", "failed"])
        let cluster = try PostgreSQLCluster(settings: [])
        let first = try await RunningService(store: try cluster.address(of: "ends"))
        let nodes = [first, try RunningService(besides: first), try RunningService(besides: first)]
        defer { for node in nodes { _ = node.stop() } }
        let devices = try await Fleet.certify(8, on: first, group: group)
        let provider = try await BenchmarkProvider(first)
        var connections: [LoadConnection] = []
        for index in 0..<width {
            connections.append(
                try await LoadConnection.open(
                    port: Fleet.port(nodes[index % nodes.count].clientURL), tls: devices[index % devices.count].tls,
                    on: group.next()))
        }
        let fleet = Fleet(devices: devices, connections: connections)
        let alone = try await ban(first, from: 100)
        report.row("ban add, nothing else", "", alone.p50, alone.p99, alone.last, "\(alone.failed)")
        let opened = try await fleet.run(
            fleet.openings(perConnection, by: provider.rs256, of: provider, "leaving"))
        let ends = try opened.map { answers in
            try answers.map { answer in
                let token = try answer.text("session_token")
                return RequestBytes.make(
                    "DELETE", "/sessions/current", headers: ["Authorization: Layer session-token=\"\(token)\""])
            }
        }
        let ending = Task { try await Load.run(fleet, processes: [], requests: ends, expecting: 204) }
        let beside = try await ban(first, from: 200)
        let load = try await ending.value
        report.row(
            "ending a session, three nodes", load.perSecond.places(0), load.p50.places(1), load.p99.places(1), "", "0")
        report.row("ban add beside it", "", beside.p50, beside.p99, beside.last, "\(beside.failed)")
        await fleet.close()
    }

    private struct Times {
        let p50: String
        let p99: String
        let last: String
        let failed: Int
    }

    /// Bans numbers, one command after the other; how long each took, the start of its process among it.
    private func ban(_ node: RunningService, from number: Int) async throws -> Times {
        var (times, failed): ([Double], Int) = ([], 0)
        for index in 0..<bans {
            let phone = "+1212555\(String(format: "%04d", number + index))"
            let start = ContinuousClock.now
            let done = try await node.countersign(["ban", "add", "--phone", phone, "--reason", "load", "--yes"])
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            if done.status != 0 { failed += 1 }
        }
        times.sort()
        return Times(
            p50: times[times.count / 2].places(0), p99: times[min(times.count - 1, times.count * 99 / 100)].places(0),
            last: (times.last ?? 0).places(0), failed: failed)
    }
}
