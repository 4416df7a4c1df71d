import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// How long checks of others wait while users are logged out everywhere, with very many sessions in memory.
struct ChangesBesideChecks {
    let service: RunningService
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private static let seconds = 10
    private static let changes = 100

    /// Shows sessions one after the other, on a connection of each event loop.
    ///
    /// - Parameters:
    ///   - requests: checks of sessions that the service has in memory, one for each connection.
    ///   - users: whose sessions end, and are none of these.
    func run(
        _ fleet: Fleet, _ requests: [ByteBuffer], _ provider: BenchmarkProvider, users: [String], _ name: String
    ) async throws {
        let alone = try await Self.times(fleet, requests)
        let times = Task { try await Self.times(fleet, requests) }
        let changes = try await change(provider, users.prefix(Self.changes))
        let beside = try await times.value
        report.row(
            "checks while \(changes.count) users are logged out everywhere, \(name)",
            "p99 \(Self.rank(beside, 0.99)) ms, longest \(Self.rank(beside, 1)) ms "
                + "(alone \(Self.rank(alone, 0.99)) and \(Self.rank(alone, 1)) ms)", "≤ 20 ms")
        report.row(
            "to log a user out everywhere, beside them",
            "p50 \(Self.rank(changes, 0.5)) ms, longest \(Self.rank(changes, 1)) ms", "≤ 1,000 ms")
    }

    private static func rank(_ times: [UInt64], _ part: Double) -> String {
        guard !times.isEmpty else { return "none" }
        return (Double(times[Int(Double(times.count - 1) * part)]) / 1e6).places(1)
    }

    /// Nanoseconds of each request, sorted.
    private static func times(_ fleet: Fleet, _ requests: [ByteBuffer]) async throws -> [UInt64] {
        let end = ContinuousClock.now + .seconds(seconds)
        return try await withThrowingTaskGroup(of: [UInt64].self) { tasks in
            for (connection, request) in zip(fleet.connections, requests) {
                tasks.addTask {
                    var times: [UInt64] = []
                    while ContinuousClock.now < end {
                        for answer in try await connection.run([request]) {
                            guard answer.status == 200 else { throw BenchmarkError("a check was \(answer.status)") }
                            times.append(UInt64(answer.nanoseconds))
                        }
                    }
                    return times
                }
            }
            return try await tasks.reduce(into: []) { $0 += $1 }.sorted()
        }
    }

    private func change(_ provider: BenchmarkProvider, _ users: ArraySlice<String>) async throws -> [UInt64] {
        let bearer = try provider.rs256.signer.providerToken(
            provider: provider.id, kid: provider.rs256.id, realm: "localhost", now: Date())
        let connection = try await LoadConnection.open(
            port: Fleet.port(service.publicURL), tls: try Fleet.context(authority: service.path("Keys/ca.pem").path),
            on: group.next())
        var times: [UInt64] = []
        for user in users {
            let request = RequestBytes.make(
                "DELETE", "/provider/users/\(user)/sessions", headers: ["Authorization: Bearer \(bearer)"])
            for answer in try await connection.run([request]) {
                guard answer.status == 204 else { throw BenchmarkError("a log-out was \(answer.status)") }
                times.append(UInt64(answer.nanoseconds))
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        await connection.close()
        return times.sorted()
    }
}
