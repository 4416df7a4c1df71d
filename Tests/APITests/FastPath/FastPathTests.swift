import Domain
import Fixtures
import Foundation
import NIOCore
import NIOEmbedded
import NIOExtras
import Operations
import Testing

@testable import API

/// What a connection has to keep in order although some of its requests are answered ahead of everything.
@Suite("A connection with the fast path", .timeLimit(.minutes(10)))
struct FastPathTests {
    private func status(_ answer: [UInt8]) -> String {
        String(decoding: answer.prefix { $0 != 0x0D }, as: UTF8.self)
    }

    @Test(
        "answers in the order of the requests, however they are mixed and cut into pieces",
        arguments: [7, 113, 100_000])
    func order(piece: Int) async throws {
        let bytes = RewoundBytes(seed: 3)
        try await ServiceFixture.run(FastPathEqualityTests.policy, randomBytes: bytes.next) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            var random = SeededRandom(seed: UInt64(piece))
            let forms = [
                WireRequest(fields: [("Authorization", "Layer session-token=\"\(token)\"")]), FastPathBench.nonce,
                FastPathBench.missing, WireRequest(fields: [("Authorization", "Layer session-token='\(token)'")]),
                WireRequest(method: "POST", target: "/nonces", fields: [("Content-Length", "2")], body: "{}"),
            ]
            // Nothing is under way before the first one; what comes while the routes work goes by them.
            let requests = [forms[0]] + (1..<60).map { _ in forms[Int.random(in: forms.indices, using: &random)] }
            let place = bytes.place
            var answers: [[UInt8]] = []
            for usesFastPath in [true, false] {
                bytes.place = place
                let way = AnswerWay(fixture, usesFastPath: usesFastPath)
                let wire = try await way.open(connection, isHTTP2: false)
                let all = requests.flatMap(\.bytes)
                for start in stride(from: 0, to: all.count, by: piece) {
                    try await wire.write(Array(all[start..<min(start + piece, all.count)]))
                }
                answers.append(try await wire.answers(requests.count))
                if usesFastPath { #expect(way.fastAnswers > 0) }
                await wire.close()
            }
            #expect(FastPathEqualityTests.difference(answers[0], answers[1]) == nil)
        }
    }

    @Test("sends what it answers of one reading at once")
    func flushes() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.open()
            try await wire.write((0..<20).flatMap { _ in bench.usual.bytes + FastPathBench.nonce.bytes })
            _ = try await wire.answers(40)
            #expect(bench.way.fastAnswers == 40 && wire.flushes == 1)
        }
    }

    @Test("leaves to the routes what concerns the connection, a body, or more than one token")
    func others() async throws {
        try await FastPathBench.run { bench in
            let field = bench.usual.fields
            let others: [(WireRequest, String)] = [
                (WireRequest(fields: field, version: "1.0"), "200"),
                (WireRequest(fields: field + [("connection", "close")]), "200"),
                (WireRequest(fields: field + [("CONNECTION", "Upgrade"), ("Upgrade", "h2c")]), "200"),
                (WireRequest(fields: field + [("Expect", "100-continue")]), "200"),
                (WireRequest(fields: field + field), "400"),
                (WireRequest(fields: field + [("Content-Length", "2")], body: "{}"), "200"),
                (WireRequest(fields: field + [("transfer-encoding", "chunked")], body: "0\r\n\r\n"), "200"),
                (WireRequest(target: "/sessions/current?", fields: field), "200"),
                (WireRequest(method: "HEAD", fields: field), "200"),
                (WireRequest(target: "//sessions/current", fields: field), "404"),
                (WireRequest(method: "POST", target: "//nonces"), "404"),
                (WireRequest(target: "https://localhost//sessions/current", fields: field), "404"),
            ]
            for (other, expected) in others {
                let wire = try await bench.open()
                #expect(status(try await wire.exchange(other)).contains(expected), "\(other)")
                await wire.close()
            }
            #expect(bench.way.fastAnswers == 0)
            let wire = try await bench.open()
            #expect(status(try await wire.exchange(bench.usual)) == "HTTP/1.1 200 OK")
            #expect(bench.way.fastAnswers == 1)
        }
    }

    @Test("refuses a body that is announced too large before it comes")
    func largeBody() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.open()
            let large = WireRequest(method: "POST", target: "/nonces", fields: [("Content-Length", "10000000")])
            #expect(status(try await wire.exchange(large)).contains("413"))
        }
    }

    @Test("answers nothing behind a request that is refused as no HTTP, or behind the last answer")
    func nothingAfterTheLast() async throws {
        try await FastPathBench.run { bench in
            for last in [
                Array("GET /sessions/current HTTP/1.1\r\n\r\n".utf8),
                WireRequest(fields: [("Connection", "close")]).bytes,
            ] {
                let wire = try await bench.open()
                try await wire.write(last + FastPathBench.nonce.bytes)
                let answer = try await wire.answers(1)
                #expect(String(decoding: answer, as: UTF8.self).lowercased().contains("connection: close"))
                #expect(bench.way.fastAnswers == 0)
                await wire.close()
            }
        }
    }

    @Test("refuses by the routes alone, whatever the state")
    func refusals() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.open()
            _ = try await wire.exchange(bench.usual)
            #expect(bench.way.fastAnswers == 1)
            let changes: [(inout Policy) -> Void] = [
                { $0.bans.maximumStaleness = 0 }, { $0.bans.maximumClockDifference = -1 },
                { $0.sessions.idleLifetime = -1 }, { $0.sessions.absoluteLifetime = -1 },
            ]
            for change in changes {
                let usual = bench.fixture.policy[\.self]
                var policy = usual
                change(&policy)
                bench.fixture.policy.replace(with: policy)
                #expect(!status(try await wire.exchange(bench.usual)).contains("200"))
                bench.fixture.policy.replace(with: usual)
            }
            #expect(status(try await wire.exchange(bench.usual)).contains("200"))
            #expect(bench.way.fastAnswers == 2)
            try await bench.fixture.revokeCertificate.own(of: bench.connection)
            #expect(status(try await wire.exchange(FastPathBench.nonce)).contains("403"))
            #expect(bench.way.fastAnswers == 2)
        }
    }

    @Test("is idle from its last answer on, whoever made it, and not before")
    func idleness() async throws {
        try await FastPathBench.run { bench in
            let idle = bench.fixture.policy[\.requests].idleTimeout
            for request in [bench.usual, FastPathBench.missing] {
                let wire = try await bench.open()
                for _ in 0..<5 {
                    await wire.wait(.seconds(Int64(idle) - 20))
                    _ = try await wire.exchange(request)
                }
                await wire.wait(.seconds(Int64(idle) - 1))
                #expect(wire.isOpen)
                await wire.wait(.seconds(2))
                #expect(!wire.isOpen)
            }
        }
    }

    @Test("stops a moment after its last answer, and says by an answer of the routes that it ends")
    func stop() async throws {
        try await FastPathBench.run { bench in
            let idle = try await bench.open()
            _ = try await idle.exchange(bench.usual)
            try await idle.stop()
            #expect(idle.isOpen)
            await idle.wait(.seconds(1))
            #expect(!idle.isOpen)
            let busy = try await bench.open()
            _ = try await busy.exchange(bench.usual)
            try await busy.stop()
            let answer = String(decoding: try await busy.exchange(bench.usual), as: UTF8.self)
            #expect(answer.contains("200 OK") && answer.lowercased().contains("connection: close"))
            #expect(bench.way.fastAnswers == 2)
        }
    }

    @Test("answers no further where the peer takes nothing, and ends in the time of an answer")
    func backPressure() async throws {
        try await FastPathBench.run { bench in
            let full = try await bench.open()
            full.channel.isWritable = false
            try await full.write(bench.usual.bytes)
            #expect(bench.way.fastAnswers == 0)
            await full.close()

            let stalled = try await bench.open()
            _ = try await stalled.exchange(bench.usual)
            try await stalled.channel.pipeline.addHandler(Stall(), position: .first).get()
            try await stalled.send(bench.usual)
            #expect(bench.way.fastAnswers == 2 && stalled.isOpen)
            await stalled.wait(.seconds(Int64(bench.fixture.policy[\.requests].answerTimeout) + 1))
            #expect(!stalled.isOpen)
        }
    }

    @Test("ends a stream alone whose window stays shut for the time of an answer")
    func shutWindow() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.way.open(bench.connection, isHTTP2: true, takesBodies: false)
            try await wire.send(bench.usual)
            await wire.wait(.seconds(Int64(bench.fixture.policy[\.requests].answerTimeout) + 1))
            let frames = try await wire.answer(on: 1)
            // The header came, and then RST_STREAM, of 4 bytes.
            #expect(bench.way.fastAnswers == 1 && wire.isOpen)
            #expect(frames[3] == 1 && frames[frames.count - 10] == 3)
        }
    }

    /// Lets nothing out.
    private final class Stall: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = Never
        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard let promise else { return }
            // Fails when the connection ends, as the kernel's queue does.
            context.channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.ioOnClosedChannel) }
        }
    }

    @Test("leaves nothing behind once it has ended")
    func released() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.open()
            _ = try await wire.exchange(bench.usual)
            let channel = wire.channel
            let kept = try await channel.testingEventLoop.executeInContext {
                WeakHandler(handler: try channel.pipeline.syncOperations.handler(type: FastPathHandler.self))
            }
            #expect(kept.handler != nil)
            await wire.close()
            for _ in 0..<12000 where kept.handler != nil { try await Task.sleep(for: .milliseconds(10)) }
            #expect(kept.handler == nil)
        }
    }

    private final class WeakHandler: @unchecked Sendable {
        weak var handler: FastPathHandler?
        init(handler: FastPathHandler) { self.handler = handler }
    }

    @Test("gives each request an id of its own in the log")
    func requestIDs() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.open()
            for _ in 0..<5 { _ = try await wire.exchange(bench.usual) }
            let ids = bench.way.log.requestIDs
            #expect(ids.count == 5 && Set(ids).count == 5)
            #expect(ids.allSatisfy { UUID(uuidString: $0) != nil })
        }
    }

    @Test("exchanges a session's token once the routes have, and nothing was written since")
    func exchange() async throws {
        try await FastPathBench.run { bench in
            let provider = bench.fixture.registration.provider.id
            let token = String(bench.usual.fields[0].1.split(separator: "\"")[1])
            let type = "urn:ietf:params:oauth"
            let body =
                "grant_type=\(type):grant-type:token-exchange&subject_token=\(token)"
                + "&subject_token_type=\(type):token-type:access_token&audience=\(provider)"
            let request = WireRequest(
                method: "POST", target: "/token",
                fields: [("Content-Type", FormBody.mediaType), ("Content-Length", "\(body.utf8.count)")], body: body)
            let wire = try await bench.open()
            try await bench.fixture.watch.poll()
            for count in 0..<3 {
                let answer = String(decoding: try await wire.exchange(request), as: UTF8.self)
                #expect(answer.contains("token-type:jwt") && bench.way.fastAnswers == count)
            }
            await wire.close()
        }
    }
}
