import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// How soon a ban of the command line is in force in the running service: one user on as many devices as there are
/// connections, five sessions on each.
struct Bans {
    let service: RunningService
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private var count: Int { quick ? 100 : 1000 }
    private static let sessionsEach = 5

    func run() async throws {
        report.section("A ban by another process", ["what", "p50 ms", "p99 ms", "last ms"])
        let provider = try await BenchmarkProvider(service)
        let devices = try await Fleet.certify(count, on: service, group: group)
        let port = Fleet.port(service.clientURL)
        for (name, more) in [("a user", []), ("a user with the devices", ["--with-devices"])] {
            let user = "banned-\(more.count)"
            let fleet = try await Fleet.connect(devices, count: count, port: port, group: group)
            let tokens = try await open(fleet, user, provider)
            let ends = Task {
                try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
                    for connection in fleet.connections { group.addTask { try await connection.end() } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            let done = try await service.countersign(
                ["ban", "add", "--user", "test/\(user)", "--reason", "load", "--yes"] + more)
            let returned = ContinuousClock.now
            guard done.status == 0 else { throw BenchmarkError(done.errors) }
            let delays = try await ends.value.map { max(0, ($0 - returned) / .milliseconds(1)) }.sorted()
            report.row(
                "\(count.formatted()) connections with \(tokens.count.formatted()) sessions of \(name): to the closing",
                delays[delays.count / 2].places(0), delays[min(delays.count - 1, delays.count * 99 / 100)].places(0),
                (delays.last ?? 0).places(0))
            try await requireRefused(tokens, devices)
        }
    }

    /// Opens sessions of a user on every connection; their tokens, by connection.
    private func open(_ fleet: Fleet, _ user: String, _ provider: BenchmarkProvider) async throws -> [String] {
        let nonce = RequestBytes.make("POST", "/nonces", body: "")
        let asking = [[ByteBuffer]](
            repeating: [ByteBuffer](repeating: nonce, count: Self.sessionsEach), count: fleet.connections.count)
        let opening = try await fleet.run(asking).map { answers in
            try answers.map { answer in
                let nonce = try Self.member("nonce", of: answer)
                let token = try provider.es256.signer.identityToken(
                    provider: provider.id, kid: provider.es256.id, externalID: user, nonce: nonce, now: Date())
                let body = JSONValue.object([JSONMember(name: "identity_token", value: .string(token))]).jsonText
                return RequestBytes.make("POST", "/sessions", body: body)
            }
        }
        return try await fleet.run(opening).flatMap { try $0.map { try Self.member("session_token", of: $0) } }
    }

    /// Shows one session of each device, on a new connection of it.
    private func requireRefused(_ tokens: [String], _ devices: [LoadDevice]) async throws {
        for index in stride(from: 0, to: devices.count, by: max(1, devices.count / 16)) {
            let fleet = try await Fleet.connect(
                [devices[index]], count: 1, port: Fleet.port(service.clientURL), group: group)
            let request = RequestBytes.make(
                "GET", "/sessions/current",
                headers: ["Authorization: Layer session-token=\"\(tokens[index * Self.sessionsEach])\""])
            let status = try await fleet.run([[request]])[0].first?.status
            guard status == 401 || status == 403 else { throw BenchmarkError("a banned session acts") }
            await fleet.close()
        }
    }

    private static func member(_ name: String, of answer: Answer) throws -> String {
        guard let text = try? StrictJSON.parse(Array(answer.body.readableBytesView))[name]?.text else {
            throw BenchmarkError("no \(name): \(answer.status)")
        }
        return text
    }
}
