import Domain
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// How long each page of the console takes beside very many rows on PostgreSQL, how large it is, and how long sign-ins
/// wait while 20 administrators page. `--users 20000` takes a smaller store than the ten million users of itself.
struct ConsolePages {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private static let administrators = 20
    /// An administrator may look at 60 persons an hour, and each page is asked for so often.
    private static let each = 6
    private static let aims = (milliseconds: 200.0, bytes: 60 * 1024)

    /// The number after `--users`.
    private var users: Int {
        get throws {
            let arguments = CommandLine.arguments
            guard let place = arguments.firstIndex(of: "--users") else { return quick ? 20_000 : 10_000_000 }
            guard place + 1 < arguments.count, let count = Int(arguments[place + 1]), count >= 20_000 else {
                throw BenchmarkError("--users takes a number of at least 20,000: --users 20000")
            }
            return count
        }
    }

    func run() async throws {
        let cluster = try PostgreSQLCluster(settings: ["max_wal_size=8GB"])
        let service = try await RunningService(store: try cluster.address(of: "console"))
        guard let device = try await Fleet.certify(1, on: service, group: group).first else {
            throw BenchmarkError("no device")
        }
        let provider = try await BenchmarkProvider(service)
        var visitors: [ConsoleVisitor] = []
        for number in 0..<Self.administrators {
            visitors.append(try await ConsoleVisitor("visitor\(number)", on: service))
        }
        _ = service.stop()
        let rows = ConsoleRows(store: service.store, provider: provider, device: device, users: try users)
        try await rows.add()
        let node = try RunningService(besides: service, arguments: ["--console", "127.0.0.1:0"])
        let port = try ConsoleVisitor.port(of: node)
        let samples = try await rows.samples(Self.administrators * Self.each)
        try await measurePages(rows, samples, visitors, port)
        try await measureSignIns(device, provider, node) { [group, visitors] pause in
            try await Self.page(samples, visitors, pausing: pause, port, group)
        }
        _ = node.stop()
    }

    // MARK: Pages

    private static let pages: [(name: String, path: @Sendable (ConsoleRows.Sample) -> String)] = [
        ("/", { _ in "/" }), ("/search by external id", { _ in "/search?external_id=stored-77" }),
        ("/search by the beginning of a session", { "/search?session=\($0.session.prefix(20))" }),
        ("/users/{}", { "/users/\($0.user)" }), ("/users/{}/erase", { "/users/\($0.user)/erase" }),
        ("/sessions/{}/end", { "/sessions/\($0.session)/end" }), ("/devices/{}", { "/devices/\($0.device)" }),
        ("/devices/{}/revoke", { "/devices/\($0.device)/revoke" }), ("/bans", { _ in "/bans" }),
        ("/bans after one", { "/bans?state=all&after=\($0.ban)" }), ("/bans/{}", { "/bans/\($0.ban)" }),
        ("/bans/{}/lift", { "/bans/\($0.ban)/lift" }), ("/acts", { _ in "/acts" }), ("/review", { _ in "/review" }),
        ("/review after one", { "/review?after=\($0.card)" }), ("/review/{}", { "/review/\($0.card)" }),
        ("/providers", { _ in "/providers" }), ("/providers/{}", { _ in "/providers/test" }),
        ("/providers/{}/disable", { _ in "/providers/test/disable" }), ("/outbox", { _ in "/outbox?state=dead" }),
        ("/outbox/retry", { _ in "/outbox/retry" }), ("/audit", { _ in "/audit" }),
        ("/audit of a user", { "/audit?kind=user&subject=\($0.user)" }),
        ("/audit of an actor without entries", { _ in "/audit?actor=nobody" }), ("/nodes", { _ in "/nodes" }),
    ]

    private func measurePages(
        _ rows: ConsoleRows, _ samples: [ConsoleRows.Sample], _ visitors: [ConsoleVisitor], _ port: Int
    ) async throws {
        report.section(
            "Pages of the console beside \(rows.users.formatted()) users and \(rows.sessions.formatted()) sessions on "
                + "PostgreSQL, one after another",
            ["page", "requests", "p50 ms", "p99 ms", "aim ms", "largest, bytes", "aim bytes", "met"])
        for page in Self.pages {
            var answers: [Answer] = []
            for (place, visitor) in visitors.enumerated() {
                let own = samples[(place * Self.each)..<((place + 1) * Self.each)]
                answers += try await visitor.ask(own.map(page.path), port: port, on: group.next())
            }
            if let wrong = answers.first(where: { $0.status != 200 }) {
                throw BenchmarkError("\(page.name) was answered with \(wrong.status): \(String(buffer: wrong.body))")
            }
            let ranks = Self.ranks(answers)
            let bytes = answers.map(\.body.readableBytes).max() ?? 0
            let isMet = ranks.p99 <= Self.aims.milliseconds && bytes <= Self.aims.bytes
            report.row(
                page.name, "\(answers.count)", ranks.p50.places(1), ranks.p99.places(1),
                "≤ \(Self.aims.milliseconds.places(0))", bytes.formatted(), "≤ \(Self.aims.bytes.formatted())",
                isMet ? "yes" : "no")
        }
    }

    /// The median and the 99th percentile, in milliseconds.
    private static func ranks(_ answers: [Answer]) -> (p50: Double, p99: Double) {
        let times = answers.map { Double($0.nanoseconds) / 1e6 }.sorted()
        guard let last = times.last else { return (0, 0) }
        return (times[times.count / 2], times.count > 99 ? times[times.count * 99 / 100] : last)
    }

    // MARK: Sign-ins

    /// The pages that administrators look through without a limit, by the person.
    private static func page(
        _ samples: [ConsoleRows.Sample], _ visitors: [ConsoleVisitor], pausing pause: Duration, _ port: Int,
        _ group: MultiThreadedEventLoopGroup
    ) async throws -> Int {
        let paths = [
            "/review", "/bans", "/outbox?state=dead", "/audit", "/providers", "/audit?actor=nobody", "/",
            "/bans?state=all&after=\(samples[0].ban)",
        ]
        return try await withThrowingTaskGroup(of: Int.self) { tasks in
            for visitor in visitors {
                tasks.addTask {
                    try await visitor.ask(paths, pausing: pause, port: port, on: group.next())
                        .count { $0.status != 200 }
                }
            }
            return try await tasks.reduce(0, +)
        }
    }

    /// Tells the administrators that the sign-ins are over.
    private final class End: Sendable {
        let hasCome = Atomic(false)
    }

    /// Sign-ins beside nothing, beside administrators who look at each page for a second, and beside such as ask for the
    /// next page at once, which is as fast as scripts are.
    ///
    /// - Parameter paging: all administrators look through some pages once; how many were not shown.
    private func measureSignIns(
        _ device: LoadDevice, _ provider: BenchmarkProvider, _ node: RunningService,
        beside paging: @escaping @Sendable (_ pause: Duration) async throws -> Int
    ) async throws {
        report.section(
            "Sign-ins of known users on four connections, without and with \(Self.administrators) administrators who page",
            ["beside", "sign-ins", "p50 ms", "p99 ms", "rounds of pages", "pages not shown"])
        let fleet = try await Fleet.connect(
            [device], count: 4, port: Fleet.port(node.clientURL), group: group)
        // The users are made first.
        _ = try await signIns(1, fleet, provider)
        let kinds: [(name: String, pause: Duration?)] = [
            ("nothing", nil), ("a page each second", .seconds(1)), ("pages without a pause", .zero),
        ]
        for kind in kinds + kinds {
            let end = End()
            let load = Task {
                var (rounds, missing) = (0, 0)
                while let pause = kind.pause, !end.hasCome.load(ordering: .relaxed) {
                    missing += try await paging(pause)
                    rounds += 1
                }
                return (rounds, missing)
            }
            let answers: [Answer]
            do {
                defer { end.hasCome.store(true, ordering: .relaxed) }
                answers = try await signIns(quick ? 10 : 100, fleet, provider)
            }
            let (rounds, missing) = try await load.value
            let ranks = Self.ranks(answers)
            report.row(
                kind.name, "\(answers.count)", ranks.p50.places(1), ranks.p99.places(1),
                "\(rounds)", "\(missing)")
        }
        await fleet.close()
    }

    private func signIns(_ rounds: Int, _ fleet: Fleet, _ provider: BenchmarkProvider) async throws -> [Answer] {
        var answers: [Answer] = []
        for _ in 0..<rounds {
            let requests = try await fleet.openings(10, by: provider.es256, of: provider, "paging")
            answers += try await fleet.run(requests).joined()
        }
        if let wrong = answers.first(where: { $0.status != 201 }) {
            throw BenchmarkError("a sign-in was answered with \(wrong.status)")
        }
        return answers
    }
}
