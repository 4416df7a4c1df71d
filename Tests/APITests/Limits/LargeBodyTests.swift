import Domain
import Fixtures
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Operations
import Testing

@testable import API

/// Bodies up to the policy's bound arrive slowly, on all streams of many connections.
@Suite("The body of a request", .timeLimit(.minutes(5)))
struct LargeBodyTests {
    /// Budgets of one MiB, of which an address has a quarter.
    private static let policy = RouterBench.policy { policy in
        policy.requests.unsentTotal = 1_048_576
        policy.requests.unsentPerCertificate = 131_072
    }

    private static func fields(_ length: Int?) -> HTTPFields {
        var fields: HTTPFields = [.contentType: "application/json"]
        if let length { fields[.contentLength] = "\(length)" } else { fields[.transferEncoding] = "chunked" }
        return fields
    }

    /// A request whose body arrives until it is told to end.
    private struct Sending {
        let body: AsyncStream<ByteBuffer>.Continuation
        let reply: Task<Reply, any Error>

        init(
            _ bench: RouterBench, _ listener: ListenerName, _ call: String, _ length: Int?,
            on connection: ClientConnection? = nil, expects: Bool = false
        ) {
            let (parts, body) = AsyncStream.makeStream(of: ByteBuffer.self)
            self.body = body
            var fields = LargeBodyTests.fields(length)
            if expects { fields[.expect] = "100-continue" }
            reply = Task { [fields] in
                try await bench.send(
                    listener, call, headers: fields, body: RequestBody(asyncSequence: parts), on: connection)
            }
        }

        func send(_ count: Int) { body.yield(ByteBuffer(repeating: 0x20, count: count)) }

        func end() async throws -> Int {
            body.finish()
            return try await reply.value.status
        }
    }

    @Test("over 16 KiB is claimed before it arrives, for its address, until the request has ended")
    func declared() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let accounts = bench.listeners.accounts
            var under: [Sending] = []
            for number in 1...4 {
                under.append(Sending(bench, .public, "POST /certificates", 60_000))
                try await until("nothing is claimed") { accounts.claimed == 60_000 * number }
            }
            let refused = try await bench.send(.public, "POST /certificates", headers: Self.fields(60_000))
            #expect(refused.status == 429 && refused.code == "rate_limited", "\(refused)")
            refused.judge()
            // Neither a small body nor another address is refused.
            for (length, address) in [(16_384, "192.0.2.1"), (60_000, "192.0.2.2")] {
                let reply = try await bench.send(
                    .public, "POST /certificates", headers: Self.fields(length), from: address)
                #expect(reply.status == 400, "\(reply)")
            }
            for sending in under { #expect(try await sending.end() == 400) }
            #expect(accounts.claimed == 0)
        }
    }

    @Test("is claimed for its certificate, whatever the path")
    func certificate() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn()
            let accounts = bench.listeners.accounts
            let under = ["POST /sessions", "POST /certificates/renewal"].map {
                Sending(bench, .client, $0, 60_000, on: person.connection)
            }
            try await until("nothing is claimed") { accounts.claimed == 120_000 }
            for path in ["GET /sessions/current", "POST /sessions", "GET /nowhere"] {
                let reply = try await bench.send(
                    .client, path, headers: Self.fields(60_000), on: person.connection)
                #expect(reply.status == 429, "\(path): \(reply)")
            }
            for sending in under { _ = try await sending.end() }
            #expect(accounts.claimed == 0)
        }
    }

    @Test("of unknown length is claimed once more than 16 KiB have arrived, or before it is permitted")
    func undeclared() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let accounts = bench.listeners.accounts
            let sending = Sending(bench, .public, "POST /certificates", nil)
            sending.send(16_384)
            let awaited = Sending(bench, .public, "POST /certificates", nil, expects: true)
            try await until("nothing is claimed") { accounts.claimed == 65_536 }
            sending.send(1)
            try await until("nothing more is claimed") { accounts.claimed == 131_072 }
            #expect(try await sending.end() == 400)
            #expect(try await awaited.end() == 400)
            #expect(accounts.claimed == 0)
        }
    }

    @Test(
        "is of unknown length over HTTP/2 if its head neither declares one nor ends the request",
        arguments: [true, false])
    func streams(_ declares: Bool) throws {
        for endStream in [true, false] {
            let channel = EmbeddedChannel()
            let going = GoingAwayHandler(
                idleTimeout: .seconds(1), pingTimeout: .seconds(1),
                progress: ConnectionProgress(ConnectionActivity(alone: channel)))
            let carrier = ResponseCarrier(.roomy, on: channel)
            try channel.pipeline.syncOperations.addHandler(
                StreamRulesHandler(.init(going, on: channel.eventLoop), tells: carrier))
            var block: HPACKHeaders = [":method": "POST", ":scheme": "https", ":path": "/sessions"]
            if declares { block.add(name: "content-length", value: endStream ? "0" : "7") }
            try channel.writeInbound(HTTP2Frame.FramePayload.headers(.init(headers: block, endStream: endStream)))
            #expect(carrier.isUndeclared == (!declares && !endStream))
            _ = try channel.finish()
        }
    }
}
