import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Tokens

/// How long a code takes from its request to the carrier while a provider's webhook takes every event and answers none.
struct HangingReceiver {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let lanes = 16
    private var perLane: Int { quick ? 4 : 32 }
    private var codes: Int { quick ? 20 : 300 }

    func run() async throws {
        let service = try await RunningService(arguments: ["--loopback-urls"])
        let provider = try await BenchmarkProvider(service)
        let devices = try await Fleet.certify(4, on: service, group: group)
        let fleet = try await Fleet.connect(devices, count: lanes, port: Fleet.port(service.clientURL), group: group)
        report.section("A provider's webhook that hangs", ["what", "p50 ms", "p99 ms", "aim"])
        var tokens = try await sessions(fleet, provider, "first")
        var ranks = try await times(fleet, tokens, service)
        report.row(
            "a code, from its request to the file sender, nothing hangs", ranks.p50.places(1), ranks.p99.places(1), "")

        let receiver = try await Receiver.start(group)
        try await set("http://127.0.0.1:\(receiver.port)/events", of: provider, on: service)
        // Each end of a session is an event for the receiver.
        _ = try await fleet.run(
            tokens.map { list in list.map { request("DELETE", "/sessions/current", $0, nil) } })
        tokens = try await sessions(fleet, provider, "second")
        for _ in 0..<800 where receiver.count == 0 { try await Task.sleep(for: .milliseconds(50)) }
        guard receiver.count > 0 else { throw BenchmarkError("no event was sent") }
        ranks = try await times(fleet, tokens, service)
        report.row(
            "the same while \(lanes * perLane) events wait for a webhook that answers none", ranks.p50.places(1),
            ranks.p99.places(1), "p99 < 1,000")
        await fleet.close()
        _ = service.stop()
        try await receiver.close()
    }

    private func sessions(_ fleet: Fleet, _ provider: BenchmarkProvider, _ prefix: String) async throws -> [[String]] {
        let openings = try await fleet.openings(perLane, by: provider.es256, of: provider, prefix)
        return try await fleet.run(openings).map { try $0.map { try $0.text("session_token") } }
    }

    /// The times of codes that are asked for one after the other.
    private func times(_ fleet: Fleet, _ tokens: [[String]], _ service: RunningService) async throws -> Ranks {
        var milliseconds: [Double] = []
        let texts = service.path("texts.jsonl").path
        for index in 0..<codes {
            let lane = index % lanes
            let token = tokens[lane][index / lanes % perLane]
            let number = "+1415\(Int.random(in: 2_000_000...9_999_999))"
            let before = FileSize.of(texts)
            let start = ContinuousClock.now
            let body = JSONValue.object([JSONMember(name: "phone_number", value: .string(number))]).jsonText
            let answers = try await fleet.connections[lane].run([request("POST", "/phone-verifications", token, body)])
            guard answers.first?.status == 202 else { throw BenchmarkError("no code was asked for") }
            while FileSize.of(texts) == before {
                guard ContinuousClock.now - start < .seconds(30) else { throw BenchmarkError("a code did not come") }
                try await Task.sleep(for: .milliseconds(1))
            }
            milliseconds.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        return Ranks(milliseconds.sorted())
    }

    private struct Ranks {
        let p50: Double
        let p99: Double

        init(_ sorted: [Double]) {
            func rank(_ part: Double) -> Double { sorted[Int(Double(sorted.count - 1) * part)] }
            (p50, p99) = (rank(0.5), rank(0.99))
        }
    }

    private func request(_ method: String, _ path: String, _ token: String, _ body: String?) -> ByteBuffer {
        RequestBytes.make(method, path, headers: ["Authorization: Layer session-token=\"\(token)\""], body: body)
    }

    private func set(_ url: String, of provider: BenchmarkProvider, on service: RunningService) async throws {
        let body = JSONValue.object([JSONMember(name: "url", value: .string(url))]).jsonText
        let proof = try provider.es256.signer.freshProviderToken(
            provider: provider.id, kid: provider.es256.id, realm: "localhost", identifier: UUID().uuidString,
            request: ProvenRequest(method: "PUT", path: "/provider/webhook", body: Array(body.utf8)), now: Date())
        let tls = try Fleet.context(authority: service.path("Keys/ca.pem").path)
        let connection = try await LoadConnection.open(
            port: Fleet.port(service.publicURL), tls: tls, on: group.next())
        let answers = try await connection.run([
            RequestBytes.make("PUT", "/provider/webhook", headers: ["Authorization: Bearer \(proof)"], body: body)
        ])
        await connection.close()
        guard answers.first?.status == 200 else { throw BenchmarkError("the webhook was not set") }
    }

    /// Accepts connections, and says nothing on any.
    private struct Receiver {
        let port: Int
        private let channel: any Channel
        private let accepted: Accepted

        private final class Accepted: Sendable {
            let count = Mutex(0)
        }

        var count: Int { accepted.count.withLock { $0 } }

        static func start(_ group: MultiThreadedEventLoopGroup) async throws -> Receiver {
            let accepted = Accepted()
            let channel = try await ServerBootstrap(group: group)
                .childChannelInitializer { channel in
                    accepted.count.withLock { $0 += 1 }
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                .bind(host: "127.0.0.1", port: 0).get()
            guard let port = channel.localAddress?.port else { throw BenchmarkError("no port") }
            return Receiver(port: port, channel: channel, accepted: accepted)
        }

        func close() async throws { try await channel.close() }
    }
}
