import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Calls that write what others write at the same moment: three nodes on one PostgreSQL, and ever more callers. A
/// transaction that another one made to begin again is an abort.
struct Callers {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private static let devices = 8
    /// A conversation holds 25 at most.
    private static let users = 24
    private let widths = [1, 24, 72]
    private var calls: Int { quick ? 72 : 720 }

    /// Nodes, and what all callers share.
    private struct Bench {
        let cluster: PostgreSQLCluster
        let nodes: [RunningService]
        let provider: BenchmarkProvider
        let people: People
        let stream: String
    }

    /// Callers of one width: some users have several connections, each to another node.
    private struct Crowd {
        let width: Int
        let bench: Bench
        let fleet: Fleet

        /// A list of requests for each caller.
        func requests(_ each: Int, _ make: (_ caller: Int) -> ByteBuffer) -> [[ByteBuffer]] {
            (0..<width).map { caller in (0..<each).map { _ in make(caller) } }
        }
    }

    func run() async throws {
        let cluster = try PostgreSQLCluster(settings: [])
        let first = try await RunningService(
            policies: ["streams.yaml": People.policy, "authorizations.yaml": "required_level: none\n"],
            store: try cluster.address(of: "callers"))
        let nodes = [first, try RunningService(besides: first), try RunningService(besides: first)]
        defer { for node in nodes { _ = node.stop() } }
        report.section(
            "Callers of three nodes on one PostgreSQL (fsync on), all on this machine's processors",
            ["call", "callers", "per second", "p50 ms", "p99 ms", "aborts a call", "sent again after 503"])
        let provider = try await BenchmarkProvider(first)
        let people = try await People.signIn(
            Self.users, devices: Self.devices, first, provider, "caller", group: group)
        let bench = Bench(
            cluster: cluster, nodes: nodes, provider: provider, people: people,
            stream: try await people.open(by: 0, with: Array(1..<Self.users)))
        let recipients = try await recipients(bench)
        for width in widths {
            let crowd = try await crowd(width, bench)
            let each = max(10, calls / width)
            try await row("POST /phone-verifications", crowd, expecting: 202) {
                crowd.requests(each) { request(crowd, $0, "/phone-verifications", People.phoneStart()) }
            }
            try await row("POST /streams/{id}/events, all in one conversation", crowd, expecting: 201) {
                crowd.requests(each) { request(crowd, $0, "/streams/\(bench.stream)/events", People.message()) }
            }
            var asked = recipients[width] ?? []
            try await row("POST /authorizations, to few users", crowd, expecting: 201) {
                crowd.requests(each) { request(crowd, $0, "/authorizations", Self.question(to: asked.popLast() ?? "")) }
            }
            try await row("POST /sessions, one user beyond the sessions of a device", crowd, expecting: 201) {
                try await crowd.fleet.openings(each, by: provider.es256, of: provider, "", user: "crowded")
            }
            await crowd.fleet.close()
            try await certificates(width, each, bench)
        }
        await people.fleet.close()
    }

    // MARK: Requests

    private func request(_ crowd: Crowd, _ caller: Int, _ path: String, _ body: String) -> ByteBuffer {
        crowd.bench.people.request(caller % Self.users, "POST", path, body: body)
    }

    private static func question(to user: String) -> String {
        #"{"id":"\#(UUID().uuidString.lowercased())","to":"\#(user)"}"#
    }

    /// Whom callers of each width ask: nobody is asked twice by the same user.
    private func recipients(_ bench: Bench) async throws -> [Int: [String]] {
        // So many of each user's calls, over all of the user's connections.
        let most = widths.map { width in (width + Self.users - 1) / Self.users * max(10, calls / width) }
        let fleet = try await crowd(Self.users, bench).fleet
        let count = ((most.max() ?? 0) + Self.users - 1) / Self.users
        var all: [Int: [String]] = [:]
        for width in widths {
            let answers = try await fleet.run(
                try await fleet.openings(count, by: bench.provider.es256, of: bench.provider, "asked by \(width)"))
            let users = try answers.joined().map { try $0.text("user_id") }
            // Callers ask in this order, one after the other: the same one comes to all users in turn.
            let each = max(10, calls / width)
            all[width] = (0..<width).reversed().flatMap { caller in
                (0..<each).map { users[($0 + caller / Self.users * each) % users.count] }
            }
        }
        await fleet.close()
        return all
    }

    /// Connections in turn to each node; those of a user are always of the same device.
    private func crowd(_ width: Int, _ bench: Bench) async throws -> Crowd {
        var connections: [LoadConnection] = []
        for index in 0..<width {
            let device = bench.people.fleet.device(of: index % Self.users)
            connections.append(
                try await LoadConnection.open(
                    port: Fleet.port(bench.nodes[index % bench.nodes.count].clientURL), tls: device.tls,
                    on: group.next()))
        }
        return Crowd(
            width: width, bench: bench, fleet: Fleet(devices: bench.people.fleet.devices, connections: connections))
    }

    // MARK: Measuring

    private func row(
        _ name: String, _ crowd: Crowd, expecting status: Int, _ requests: () async throws -> [[ByteBuffer]]
    ) async throws {
        let list = try await requests()
        try await row(name, crowd.width, crowd.bench.cluster, calls: list.joined().count) {
            try await Load.run(crowd.fleet, processes: [], requests: list, expecting: status)
        }
    }

    private func row(
        _ name: String, _ width: Int, _ cluster: PostgreSQLCluster, calls: Int, _ body: () async throws -> Load
    ) async throws {
        let (aborted, repeated) = (
            try await Growth.takenBack(cluster), LoadConnection.repeated.load(ordering: .relaxed)
        )
        let load = try await body()
        let aborts = Double(try await Growth.takenBack(cluster) - aborted) / Double(max(1, calls))
        report.row(
            name, "\(width)", load.perSecond.places(0), load.p50.places(1), load.p99.places(1), aborts.places(3),
            "\(LoadConnection.repeated.load(ordering: .relaxed) - repeated)")
    }

    /// A certificate's answer ends its connection: each call has one of its own.
    private func certificates(_ width: Int, _ each: Int, _ bench: Bench) async throws {
        let tls = try Fleet.context(authority: bench.nodes[0].path("Keys/ca.pem").path)
        let requests = try (0..<width).map { _ in
            try (0..<each).map { _ in
                let request = try TestAuthority.certificationRequest(commonName: UUID().uuidString.lowercased())
                let body = JSONValue.object([JSONMember(name: "csr", value: .string(request))]).jsonText
                return RequestBytes.make("POST", "/certificates", body: body)
            }
        }
        let ports = bench.nodes.map { Fleet.port($0.publicURL) }
        let name = "POST /certificates, a handshake each"
        try await row(name, width, bench.cluster, calls: width * each) { [group] in
            let start = ContinuousClock.now
            let answers = try await withThrowingTaskGroup(of: [Answer].self) { tasks in
                for (caller, list) in requests.enumerated() {
                    tasks.addTask {
                        var answers: [Answer] = []
                        for request in list {
                            let connection = try await LoadConnection.open(
                                port: ports[caller % ports.count], tls: tls, on: group.next())
                            answers += try await connection.run([request], repeating: 20)
                            await connection.close()
                        }
                        return answers
                    }
                }
                return try await tasks.reduce(into: [[Answer]]()) { $0.append($1) }
            }
            return try Load(answers, since: start, processorSeconds: 0, expecting: 201)
        }
    }
}
