import Database
import Domain
import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// How soon a change that ends very many sessions is in force, while some of them are used without a pause.
struct MassChanges {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private var stored: Int { quick ? 100_000 : 1_000_000 }
    private static let users = 8

    private enum Change: String, CaseIterable {
        case disable = "provider disable"
        case revoke = "provider key revoke --end-sessions"

        func arguments(_ provider: BenchmarkProvider) -> [String] {
            switch self {
            case .disable: ["provider", "disable", "test", "--reason", "load", "--yes"]
            case .revoke:
                [
                    "provider", "key", "revoke", provider.rs256.id.description, "--end-sessions", "--reason", "load",
                    "--yes",
                ]
            }
        }
    }

    func run() async throws {
        report.section(
            "Ending many sessions by one change, of the command line, while \(Self.users) connections use theirs",
            [
                "store", "sessions stored", "change", "the command, ms", "last accepted request after its begin, ms",
                "requests refused with 5xx", "all rows ended after, s",
            ])
        for change in Change.allCases {
            let service = try await RunningService()
            try await measure(change, on: service, "SQLite", isPostgreSQL: false)
            _ = service.stop()
        }
        let cluster = try PostgreSQLCluster(settings: [])
        for (index, change) in Change.allCases.enumerated() {
            let service = try await RunningService(store: try cluster.address(of: "mass\(index)"))
            try await measure(change, on: service, "PostgreSQL, fsync on", isPostgreSQL: true)
            _ = service.stop()
        }
    }

    private func measure(_ change: Change, on service: RunningService, _ name: String, isPostgreSQL: Bool) async throws
    {
        let devices = try await Fleet.certify(Self.users, on: service, group: group)
        let provider = try await BenchmarkProvider(service)
        try await SeededSessions(
            store: service.store, isPostgreSQL: isPostgreSQL, device: devices[0], provider: provider
        ).add(stored, from: 0)
        // The disk may be busy with what was stored, so that the service is not ready for a moment.
        for _ in 0..<120 {
            if try await Command.run("/usr/bin/curl", ["-sf", service.opsURL + "/readyz"]).status == 0 { break }
            try await Task.sleep(for: .milliseconds(500))
        }
        let fleet = try await Fleet.connect(
            devices, count: Self.users, port: Fleet.port(service.clientURL), group: group)
        let opened = try await fleet.run(fleet.openings(1, by: provider.rs256, of: provider, "mass"))
        let checks = try opened.map { answers in
            guard let answer = answers.first else { throw BenchmarkError("no session") }
            let token = try answer.text("session_token")
            return RequestBytes.make(
                "GET", "/sessions/current", headers: ["Authorization: Layer session-token=\"\(token)\""])
        }
        let watching = Task { try await Self.watch(fleet, checks) }
        try await Task.sleep(for: .seconds(1))
        let start = ContinuousClock.now
        let done = try await service.countersign(change.arguments(provider))
        let returned = ContinuousClock.now
        guard done.status == 0 else { throw BenchmarkError(done.errors) }
        let seen = try await watching.value
        let swept = try await untilSwept(service.store, provider, since: start)
        report.row(
            name, stored.formatted(), change.rawValue, ((returned - start) / .milliseconds(1)).places(0),
            seen.accepted.map { max(0, ($0 - start) / .milliseconds(1)).places(0) } ?? "none was", "\(seen.failed)",
            swept)
        await fleet.close()
    }

    /// Shows each session again and again until it is refused.
    private static func watch(
        _ fleet: Fleet, _ checks: [ByteBuffer]
    ) async throws -> (accepted: ContinuousClock.Instant?, failed: Int) {
        try await withThrowingTaskGroup(of: (ContinuousClock.Instant?, Int).self) { tasks in
            for (connection, check) in zip(fleet.connections, checks) {
                tasks.addTask {
                    let deadline = ContinuousClock.now + .seconds(120)
                    var (accepted, failed): (ContinuousClock.Instant?, Int) = (nil, 0)
                    while ContinuousClock.now < deadline {
                        let status = try await connection.run([check]).first?.status ?? 0
                        if status == 200 {
                            accepted = .now
                        } else if status >= 500 {
                            failed += 1
                        } else {
                            return (accepted, failed)
                        }
                    }
                    throw BenchmarkError("a session still acts after 120 s")
                }
            }
            return try await tasks.reduce(into: (nil, 0)) { all, one in
                all = ([all.accepted, one.0].compactMap { $0 }.max(), all.failed + one.1)
            }
        }
    }

    /// How long it takes until no row is open any more, to a quarter of a second.
    private func untilSwept(
        _ store: String, _ provider: BenchmarkProvider, since start: ContinuousClock.Instant
    ) async throws -> String {
        let database = try StoreURL.parse(store).open(clock: { Date() })
        var answer = "more than 600"
        while ContinuousClock.now - start < .seconds(600) {
            let left = try await database.read { transaction in
                try transaction.first(
                    "SELECT 1 FROM sessions WHERE provider_id = $1 AND state <> 'unauthenticated' LIMIT 1",
                    [.text(provider.id.description)])
            }
            if left == nil {
                answer = ((ContinuousClock.now - start) / .seconds(1)).places(1)
                break
            }
            try await Task.sleep(for: .milliseconds(250))
        }
        try await database.close()
        return answer
    }
}
