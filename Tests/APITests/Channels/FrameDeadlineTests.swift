import Fixtures
import NIOCore
import Testing

@testable import API

/// The library keeps what it has of a frame and of a header block, and has no stream for it yet.
@Suite("A frame and a header block of HTTP/2", .timeLimit(.minutes(5)))
struct FrameDeadlineTests {
    /// A frame of stream 1 with three fields of HPACK's table: GET, https, and the path `/`.
    private static func frame(_ type: UInt8, _ flags: UInt8, _ payload: [UInt8] = [0x82, 0x87, 0x84]) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, 1] + payload
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    @Test("are partial from their first byte to their last, wherever the network divides them")
    func partial() {
        for (bytes, last) in [
            (Self.frame(1, 4), 12), (Self.frame(1, 0) + Self.frame(9, 4, []), 21),
            (Self.frame(1, 1) + Self.frame(9, 0) + Self.frame(9, 4), 36), (Self.frame(4, 0, []), 9),
        ] {
            for size in 1...4 {
                var flood = FrameFlood()
                _ = flood.receive(ByteBuffer(bytes: Self.preface).readableBytesView, at: 1)
                #expect(!flood.isPartial && flood.whole == 1)
                var rest = bytes[...]
                while !rest.isEmpty {
                    _ = flood.receive(ByteBuffer(bytes: rest.prefix(size)).readableBytesView, at: 1)
                    rest = rest.dropFirst(size)
                    #expect(flood.isPartial == (bytes.count - rest.count < last))
                }
                #expect(flood.whole == 2)
            }
        }
        var flood = FrameFlood()
        _ = flood.receive(ByteBuffer(bytes: Self.preface.dropLast()).readableBytesView, at: 1)
        #expect(flood.isPartial && flood.whole == 0)
    }

    @Test(
        "have the time of a request, and then their connection ends",
        arguments: [
            frame(1, 0), frame(1, 1), Array(frame(1, 5).dropLast()), Array(frame(0x2A, 0).dropLast()), [0],
        ])
    func late(_ bytes: [UInt8]) async throws {
        try await RouterBench.run { bench in
            let way = AnswerWay(bench.fixture, usesFastPath: true, on: .public, accounts: .roomy)
            let wire = try await way.open(nil, isHTTP2: true)
            try await wire.write(bytes)
            await wire.wait(.seconds(19))
            #expect(wire.isOpen)
            await wire.wait(.seconds(2))
            try await until("the connection goes on") { !wire.isOpen }
            await wire.close()
        }
    }

    @Test("have it each, so a connection on which others follow goes on")
    func successive() async throws {
        try await RouterBench.run { bench in
            let way = AnswerWay(bench.fixture, usesFastPath: true, on: .public, accounts: .roomy)
            let wire = try await way.open(nil, isHTTP2: true)
            // WINDOW_UPDATE of the connection.
            let update: [UInt8] = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1]
            try await wire.write(Array(update.prefix(3)))
            for _ in 0..<4 {
                await wire.wait(.seconds(15))
                // The rest of one frame, and the beginning of the next.
                try await wire.write(Array(update.dropFirst(3) + update.prefix(3)))
            }
            #expect(wire.isOpen)
            try await wire.write(Array(update.dropFirst(3)))
            await wire.wait(.seconds(30))
            #expect(wire.isOpen)
            await wire.close()
        }
    }
}
