import Database
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// What operators wait for when they look at a store with a million rows of each kind: each command is a process.
struct Operators {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private var stored: Int { quick ? 20_000 : 1_000_000 }
    private static let atOnce = 20_000
    private static let turns = 5
    private static let entriesOfUser = 1000
    private static let rare = "event_subject_added"

    func run() async throws {
        report.section(
            "Commands of an operator beside \(stored.formatted()) sessions, messages in the outbox and audit entries",
            ["store", "command", "median ms", "longest ms", "aim ms"])
        let single = try await RunningService()
        try await measure(single, "SQLite", isPostgreSQL: false)
        let cluster = try PostgreSQLCluster(settings: [])
        let other = try await RunningService(store: try cluster.address(of: "operators"))
        try await measure(other, "PostgreSQL", isPostgreSQL: true)
    }

    private func measure(_ service: RunningService, _ name: String, isPostgreSQL: Bool) async throws {
        guard let device = try await Fleet.certify(1, on: service, group: group).first else {
            throw BenchmarkError("no device")
        }
        let provider = try await BenchmarkProvider(service)
        // Nothing chains, sends or forgets what is seeded.
        _ = service.stop()
        try await SeededSessions(
            store: service.store, isPostgreSQL: isPostgreSQL, device: device, provider: provider
        ).add(stored, from: 0)
        let store = try StoreURL.parse(service.store).open(clock: { Date() })
        try await seed(store, provider)
        if isPostgreSQL { try await store.write { try $0.execute("ANALYZE") } }
        try await store.close()
        for command in [
            ["--version"], ["status"], ["audit", "tail"], ["audit", "tail", "--event", "session_ended"],
            ["audit", "tail", "--event", Self.rare], ["audit", "tail", "--subject", Self.user(7)],
            ["audit", "tail", "--subject", Self.user(stored / Self.entriesOfUser)],
            ["session", "list", "--provider", "test"],
        ] {
            try await row(service, name, command)
        }
    }

    private func row(_ service: RunningService, _ name: String, _ command: [String]) async throws {
        var times: [Double] = []
        for _ in 0..<Self.turns {
            let start = ContinuousClock.now
            // It takes no options but itself.
            let done =
                command == ["--version"]
                ? try await Command.run(try RunningService.product("countersign"), command)
                : try await service.countersign(command)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            guard done.status == 0 else { throw BenchmarkError("\(command): \(done.errors)") }
        }
        times.sort()
        report.row(
            name, command.joined(separator: " "), times[times.count / 2].places(0), (times.last ?? 0).places(0), "≤ 500"
        )
    }

    // MARK: Seeding

    private static let numbers = "WITH RECURSIVE n(i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $2)"
    private static func identifier(_ number: String) -> String {
        "'00000000-0000-4000-8000-' || CAST(100000000000 + \(number) AS TEXT)"
    }
    private static func user(_ number: Int) -> String { "00000000-0000-4000-8000-\(100_000_000_000 + number)" }

    /// Chained entries of the log, with digests that nobody verifies here; messages that wait, and a tenth that are dead.
    private func seed(_ store: any Database, _ provider: BenchmarkProvider) async throws {
        let (stored, digest) = (stored, Value.bytes(Array(Digest256.of("seeded").bytes)))
        for start in stride(from: 1, through: stored, by: Self.atOnce) {
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let range: [Value] = [
                .integer(Int64(start)), .integer(Int64(min(stored + 1, start + Self.atOnce))), .integer(now),
            ]
            try await store.write { transaction in
                try transaction.execute(
                    """
                    \(Self.numbers) INSERT INTO audit_entries (id, at, event, subject, actor, sequence, digest)
                    SELECT \(Self.identifier("n.i")), $3,
                        CASE WHEN n.i % 100000 = 1 THEN '\(Self.rare)' ELSE 'session_ended' END,
                        'user ' || \(Self.identifier("n.i / \(Self.entriesOfUser)")), 'admin seed', h.sequence + n.i, $4
                    FROM n CROSS JOIN audit_head h
                    """, range + [digest])
                try transaction.execute(
                    """
                    \(Self.numbers) INSERT INTO outbox (
                        id, kind, owner, subject, user_id, deduplication_key, payload, created_at, expires_at, due_at,
                        tries, state, ended_at
                    )
                    SELECT \(Self.identifier("n.i")), 'provider_event', $4, $4,
                        \(Self.identifier("n.i / \(Self.entriesOfUser)")), 'seeded ' || n.i, $5, $3, $3 + 864000000,
                        $3 + 86400000, 0, CASE WHEN n.i % 10 = 0 THEN 'dead' ELSE 'waiting' END,
                        CASE WHEN n.i % 10 = 0 THEN $3 ELSE NULL END
                    FROM n
                    """, range + [.text(provider.id.description), digest])
            }
        }
        try await store.write { transaction in
            try transaction.execute(
                "UPDATE audit_head SET sequence = sequence + $1, digest = $2", [.integer(Int64(stored)), digest])
        }
    }
}
