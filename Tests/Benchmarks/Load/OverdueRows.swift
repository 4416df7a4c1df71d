import Database
import Domain
import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// How soon housekeeping has forgotten very many rows that are due, and how long sign-ins wait beside it.
struct OverdueRows {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private static let tasks = "'ended_sessions', 'spent_identifiers'"
    private static let patience = 1800

    func run() async throws {
        report.section(
            "Housekeeping with very many rows due, beside sign-ins on one connection",
            [
                "store", "rows due", "of them sessions", "sign-ins alone: p50 ms", "p99 ms", "longest ms",
                "the disk's longest ms", "beside it: p50 ms", "p99 ms", "longest ms", "the disk's longest ms",
                "beyond 100 ms", "all gone after, s", "rows a second",
            ])
        let service = try await RunningService()
        try await measure(service, "SQLite", sessions: quick ? 2_000 : 100_000, others: quick ? 8_000 : 900_000)
        _ = service.stop()
        let cluster = try PostgreSQLCluster(settings: [])
        let other = try await RunningService(store: try cluster.address(of: "overdue"))
        try await measure(
            other, "PostgreSQL, fsync on", sessions: quick ? 2_000 : 2_000_000, others: quick ? 8_000 : 8_000_000)
        _ = other.stop()
    }

    private func measure(_ service: RunningService, _ name: String, sessions: Int, others: Int) async throws {
        let devices = try await Fleet.certify(1, on: service, group: group)
        let provider = try await BenchmarkProvider(service)
        let port = Fleet.port(service.clientURL)
        var fleet = try await Fleet.connect(devices, count: 1, port: port, group: group)
        let store = try StoreURL.parse(service.store).open(clock: { Date() })
        try await lease(in: store)
        _ = try await signIns(20, fleet, provider, "first")
        // It takes longer than an idle connection is kept.
        await fleet.close()
        try await seed(sessions, others, device: devices[0], provider, isFile: service.store.hasPrefix("sqlite"), store)
        fleet = try await Fleet.connect(devices, count: 1, port: port, group: group)
        let disk = DurableWrites()
        let writing = Task { try await disk.run() }
        defer { writing.cancel() }
        let alone = try await signIns(quick ? 50 : 500, fleet, provider, "alone")
        let diskAlone = await disk.takeLongest()
        let start = ContinuousClock.now
        _ = try await store.write {
            try $0.execute(
                """
                UPDATE maintenance_tasks SET leased_until = 0, due_at = 0, holder = NULL, ended_at = NULL
                WHERE name IN (\(Self.tasks))
                """)
        }
        var beside: [Double] = []
        var isDone = false
        while !isDone, ContinuousClock.now - start < .seconds(Self.patience) {
            beside += try await signIns(20, fleet, provider, "beside")
            isDone = try await haveEnded(store)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard isDone else { throw BenchmarkError("rows are left after \(seconds) s") }
        let (before, during) = (Self.ranks(alone), Self.ranks(beside))
        let beyond = "\(beside.filter { $0 > 100 }.count) of \(beside.count)"
        report.row(
            name, (sessions + others).formatted(), sessions.formatted(), before[0], before[1], before[2],
            diskAlone.places(1), during[0], during[1], during[2], (await disk.takeLongest()).places(1), beyond,
            seconds.places(0), (Double(sessions + others) / seconds).places(0))
        writing.cancel()
        try await writing.value
        await fleet.close()
        try await store.close()
    }

    /// The median, the 99th percentile and the longest, in milliseconds.
    private static func ranks(_ times: [Double]) -> [String] {
        let sorted = times.sorted()
        return [sorted.count / 2, sorted.count * 99 / 100, sorted.count - 1].map {
            sorted.indices.contains($0) ? sorted[$0].places(1) : ""
        }
    }

    /// Keeps the service from the tasks until all rows are there.
    private func lease(in store: any Database) async throws {
        _ = try await store.write {
            try $0.execute(
                """
                INSERT INTO maintenance_tasks (name, holder, leased_until, due_at, row_count, last_row_count, failures)
                SELECT column1, 'the load', 9000000000000, 0, 0, 0, 0
                FROM (VALUES ('ended_sessions'), ('spent_identifiers')) AS tasks WHERE true
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
                """)
        }
    }

    /// Whether both tasks have come to their end.
    private func haveEnded(_ store: any Database) async throws -> Bool {
        try await store.read {
            try $0.query("SELECT 1 FROM maintenance_tasks WHERE name IN (\(Self.tasks)) AND ended_at IS NULL").isEmpty
        }
    }

    /// Opens sessions one after the other; how long each took, in milliseconds.
    private func signIns(
        _ count: Int, _ fleet: Fleet, _ provider: BenchmarkProvider, _ prefix: String
    ) async throws -> [Double] {
        var times: [Double] = []
        for _ in stride(from: 0, to: count, by: 20) {
            let requests = try await fleet.openings(20, by: provider.es256, of: provider, prefix)
            for answer in try await fleet.run(requests).joined() {
                guard answer.status == 201 else { throw BenchmarkError("a sign-in was answered with \(answer.status)") }
                times.append(Double(answer.nanoseconds) / 1e6)
            }
        }
        return times
    }

    /// Ended sessions of one user, and identifiers that were spent, all of them so long ago that they are due.
    private func seed(
        _ sessions: Int, _ others: Int, device: LoadDevice, _ provider: BenchmarkProvider, isFile: Bool,
        _ store: any Database
    ) async throws {
        let atOnce = isFile ? 20_000 : 200_000
        let numbers =
            "WITH RECURSIVE n(i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $2)"
        let id = isFile ? SeededSessions.embeddedIdentifier : "CAST(gen_random_uuid() AS TEXT)"
        let digest = isFile ? "randomblob(32)" : "sha256(CAST('due ' || n.i AS BYTEA))"
        let day: Int64 = 86_400_000
        let longAgo = Int64(Date().timeIntervalSince1970 * 1000) - 100 * day
        func add(_ count: Int, _ insertion: String, _ more: [Value]) async throws {
            for start in stride(from: 0, to: count, by: atOnce) {
                let range: [Value] = [.integer(Int64(start)), .integer(Int64(min(count, start + atOnce)))]
                try await store.alter { _ = try $0.execute("\(numbers) \(insertion)", range + more) }
            }
        }
        try await add(
            sessions,
            """
            INSERT INTO sessions (
                id, token_hash, user_id, provider_id, external_id, application_id, device_id, thumbprint,
                provider_key_id, user_generation, device_generation, provider_generation, key_generation, state,
                created_at, renewed_at, last_used_at, ended_at, end_reason
            )
            SELECT \(id), \(digest), u.id, u.provider_id, u.external_id, $4, $5, \(digest), $6, 0, 0, 0, 0,
                'unauthenticated', $7 + n.i, $7 + n.i, $7 + n.i, $7 + n.i, 'ended by its user'
            FROM n JOIN (SELECT * FROM users WHERE provider_id = $3 LIMIT 1) u ON true
            """,
            [
                .text(provider.id.description), .text(provider.application.description), .text(device.id),
                .text(provider.es256.id.description), .integer(longAgo),
            ])
        try await add(
            others,
            "INSERT INTO spent_identifiers (identifier, expires_at) SELECT 'due ' || \(id), $3 + n.i FROM n",
            [.integer(longAgo)])
        // As the automatic one would before long.
        if !isFile { try await store.alter { _ = try $0.execute("ANALYZE sessions, spent_identifiers") } }
    }
}
