import Domain
import Fixtures
import Foundation
import NIOCore
import Operations
import Testing

@testable import API

/// A connection of HTTP/2 on which some streams never get a channel of their own.
@Suite("A connection of HTTP/2 with the fast path", .timeLimit(.minutes(10)))
struct FastStreamsTests {
    /// The frame that ends an answer: its type and, of a reset, the code.
    private func end(_ answer: [UInt8]?) -> (type: UInt8, code: UInt8)? {
        guard let answer, answer.count >= 13 else { return nil }
        let isReset = answer[answer.count - 10] == 3 && answer.count >= 13 && answer[answer.count - 11] == 4
        return isReset ? (3, answer[answer.count - 1]) : (0, 0)
    }

    @Test("answers streams that were sent together, whoever answers each, and each once")
    func together() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams()
            let forms = [bench.usual, FastPathBench.missing, FastPathBench.nonce]
            let streams = try await wire.send((0..<60).map { forms[$0 % 3] })
            let answers = try await wire.answers(on: streams)
            #expect(answers.count == 60 && answers.values.allSatisfy { end($0)?.type == 0 })
            #expect(bench.way.fastAnswers == 40)
        }
    }

    @Test("sends what it answers of one reading at once")
    func flushes() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams()
            _ = try await wire.exchange(bench.usual)
            let before = wire.flushes
            let streams = try await wire.send([WireRequest](repeating: bench.usual, count: 20))
            _ = try await wire.answers(on: streams)
            #expect(bench.way.fastAnswers == 21 && wire.flushes == before + 1)
        }
    }

    @Test("waits for the bodies of several streams, in whatever order they come")
    func bodies() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams()
            let empty = WireRequest(method: "POST", target: "/nonces", fields: [("content-length", "0")], body: "")
            let full = WireRequest(method: "POST", target: "/nonces", fields: [("content-length", "2")], body: "{}")
            let streams = try await wire.send([empty, full, empty, full])
            let answers = try await wire.answers(on: streams)
            #expect(answers.values.allSatisfy { end($0)?.type == 0 })
            #expect(bench.way.fastAnswers == 2)
        }
    }

    @Test("leaves malformed requests to their streams, which reset them")
    func malformed() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams()
            for request in [
                WireRequest(fields: bench.usual.fields + [("te", "gzip")]),
                WireRequest(fields: bench.usual.fields + [("content-length", "5")]),
                WireRequest(method: "POST", target: "/nonces", fields: [("content-length", "5")], body: ""),
                WireRequest(fields: bench.usual.fields + [("content-length", "0"), ("content-length", "0")]),
            ] {
                let ended = end(try await wire.exchange(request))
                #expect(ended?.type == 3 && ended?.code == 1, "\(request)")
            }
            #expect(bench.way.fastAnswers == 0 && wire.isOpen)
            _ = try await wire.exchange(bench.usual)
            #expect(bench.way.fastAnswers == 1)
        }
    }

    @Test("leaves to the routes a field with too many combining marks")
    func marks() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams()
            for (count, answers) in [(30, 1), (31, 1)] {
                let field = ("x-note", String(repeating: "\u{301}", count: count))
                let answer = try await wire.exchange(WireRequest(fields: bench.usual.fields + [field]))
                #expect(end(answer)?.type == 0 && bench.way.fastAnswers == answers)
            }
        }
    }

    @Test("sends the body of an answer when the window of its stream opens")
    func openedWindow() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams(takesBodies: false)
            try await wire.send(bench.usual)
            try await wire.takeBody(1)
            #expect(end(try await wire.answer(on: 1))?.type == 0)
            // Its time is over long after it was sent.
            await wire.wait(.seconds(Int64(bench.answerTimeout) + 1))
            try await wire.send(bench.usual)
            try await wire.takeBody(3)
            #expect(end(try await wire.answer(on: 3))?.type == 0)
            #expect(bench.way.fastAnswers == 2)
        }
    }

    @Test("forgets the answer of a stream that its peer resets")
    func reset() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams(takesBodies: false)
            for stream in stride(from: UInt32(1), to: 401, by: 2) {
                try await wire.send(bench.usual)
                try await wire.reset(stream)
            }
            #expect(bench.way.fastAnswers == 200 && wire.isOpen)
            try await wire.send(bench.usual)
            try await wire.takeBody(401)
            #expect(end(try await wire.answer(on: 401))?.type == 0)
        }
    }

    @Test("counts its streams: one beyond the limit is refused")
    func limit() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams(takesBodies: false)
            for _ in 0..<AnswerWay.maximumStreams { try await wire.send(bench.usual) }
            #expect(bench.way.fastAnswers == AnswerWay.maximumStreams)
            for request in [bench.usual, FastPathBench.missing] {
                let streams = try await wire.send([request])
                let ended = end(try await wire.answers(on: streams)[streams[0]])
                #expect(ended?.type == 3 && ended?.code == 7)
            }
            #expect(bench.way.fastAnswers == AnswerWay.maximumStreams && wire.isOpen)
        }
    }

    @Test("closes after its last answer when the listener stops")
    func stop() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams(takesBodies: false)
            try await wire.send(bench.usual)
            try await wire.stop()
            try await wire.acknowledgePing()
            await wire.wait(.seconds(1))
            #expect(bench.way.fastAnswers == 1 && wire.isOpen)
            try await wire.takeBody(1)
            await wire.wait(.seconds(1))
            #expect(!wire.isOpen)
        }
    }

    @Test("answers what its peer sends before it knows that the listener stops, with a body or without")
    func unknownStop() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams()
            try await wire.stop()
            let empty = WireRequest(method: "POST", target: "/nonces", fields: [("content-length", "0")], body: "")
            let streams = try await wire.send([bench.usual, empty, FastPathBench.missing])
            try await wire.acknowledgePing()
            let answers = try await wire.answers(on: streams)
            #expect(answers.count == 3 && answers.values.allSatisfy { end($0)?.type == 0 })
            #expect(bench.way.fastAnswers == 2)
            await wire.wait(.seconds(1))
            #expect(!wire.isOpen)
        }
    }

    @Test("extends the window of a stream whose body it waited for, padding included")
    func padding() async throws {
        try await FastPathBench.run { bench in
            let wire = try await bench.openStreams()
            let form = ("content-type", "application/x-www-form-urlencoded")
            let text = String(repeating: "x", count: 255)
            let stream = try await wire.sendPadded(
                WireRequest(method: "POST", target: "/token", fields: [form], body: text))
            #expect(try await wire.extended(stream) > 0)
        }
    }

    @Test("is idle from its last answer on, and not before")
    func idleness() async throws {
        try await FastPathBench.run { bench in
            let idle = Int64(bench.fixture.policy[\.requests].idleTimeout)
            let wire = try await bench.openStreams()
            for _ in 0..<3 {
                await wire.wait(.seconds(idle - 20))
                _ = try await wire.exchange(bench.usual)
            }
            await wire.wait(.seconds(idle - 1))
            #expect(wire.isOpen)
            await wire.wait(.seconds(2))
            // Idle: it says that it leaves, and waits for the peer to know.
            try await wire.acknowledgePing()
            await wire.wait(.seconds(1))
            #expect(!wire.isOpen && bench.way.fastAnswers == 3)
        }
    }
}
