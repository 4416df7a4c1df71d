import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import NIOHTTPTypes
import Testing

@testable import API

@Suite("The frames of an answer")
struct EndStreamTests {
    private typealias Payload = HTTP2Frame.FramePayload

    private static func data(_ count: Int, ends: Bool = false) -> Payload {
        .data(.init(data: .byteBuffer(ByteBuffer(repeating: 7, count: count)), endStream: ends))
    }

    private static func headers(_ status: String, length: Int?) -> Payload {
        var fields: HPACKHeaders = [":status": status]
        if let length { fields.add(name: "content-length", value: "\(length)") }
        return .headers(.init(headers: fields))
    }

    /// What leaves: the size of each frame, `h` for a header, and `!` where it ends the stream.
    private func leaving(_ payloads: [Payload], method: String = "GET") throws -> [String] {
        let channel = EmbeddedChannel(handler: EndStreamHandler())
        try channel.writeInbound(Payload.headers(.init(headers: [":method": method], endStream: true)))
        for payload in payloads { channel.write(payload, promise: nil) }
        channel.flush()
        var left: [String] = []
        while let payload = try channel.readOutbound(as: Payload.self) {
            switch payload {
            case .headers(let headers): left.append("h" + (headers.endStream ? "!" : ""))
            case .data(let data): left.append("\(data.data.readableBytes)" + (data.endStream ? "!" : ""))
            default: left.append("?")
            }
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
        return left
    }

    @Test("end with the last byte that the header announces")
    func counted() throws {
        #expect(try leaving([Self.headers("200", length: 5), Self.data(5), Self.data(0, ends: true)]) == ["h", "5!"])
        #expect(
            try leaving([Self.headers("200", length: 8), Self.data(5), Self.data(3), Self.data(0, ends: true)])
                == ["h", "5", "3!"])
    }

    @Test("end with the header where there is no body")
    func headerOnly() throws {
        #expect(try leaving([Self.headers("204", length: nil), Self.data(0, ends: true)]) == ["h!"])
        #expect(try leaving([Self.headers("200", length: 0), Self.data(0, ends: true)]) == ["h!"])
        #expect(try leaving([Self.headers("200", length: 9), Self.data(0, ends: true)], method: "HEAD") == ["h!"])
    }

    @Test("are left as they are where the length is not known, falls short or is informational")
    func unknown() throws {
        #expect(
            try leaving([Self.headers("200", length: nil), Self.data(5), Self.data(0, ends: true)])
                == ["h", "5", "0!"])
        #expect(
            try leaving([Self.headers("200", length: 9), Self.data(5), Self.data(0, ends: true)]) == ["h", "5", "0!"])
        #expect(
            try leaving([
                Self.headers("100", length: nil), Self.headers("200", length: 1), Self.data(1),
                Self.data(0, ends: true),
            ]) == ["h", "h", "1!"])
    }
}

@Suite("The pace of answers")
struct AnswerPaceTests {
    /// Keeps what is written until it is told that the peer takes it.
    private final class Window: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart
        var promises: [EventLoopPromise<Void>?] = []
        var size = 0
        /// What came here: `h`ead, `b`ody, `e`nd, and `c` for the end of the channel.
        var order = ""
        /// After how many pieces of a body it takes no more.
        var pieces = Int.max

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            switch unwrapOutboundIn(data) {
            case .head: order += "h"
            case .body(let bytes):
                size = max(size, bytes.readableBytes)
                order += "b"
                pieces -= 1
                if pieces == 0 { (context.channel as? EmbeddedChannel)?.isWritable = false }
            case .end: order += "e"
            }
            promises.append(promise)
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            order += "c"
            context.close(mode: mode, promise: promise)
        }

        func take(_ count: Int) {
            for promise in promises.prefix(count) { promise?.succeed() }
            promises.removeFirst(min(count, promises.count))
        }
    }

    private struct Stream {
        let channel = EmbeddedChannel()
        let window = Window()

        init(_ unsent: UnsentBytes, _ carrier: ResponseCarrier? = nil) throws {
            let pace = AnswerPaceHandler(
                timeout: 20, unsent: unsent, progress: ConnectionProgress(ConnectionActivity(alone: channel)),
                isStream: true, carrier: carrier ?? ResponseCarrier(.roomy, on: channel))
            try channel.pipeline.syncOperations.addHandlers([window, pace])
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        }

        func ask() throws {
            try channel.writeInbound(
                HTTPRequestPart.head(.init(method: .get, scheme: "https", authority: "x", path: "/")))
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }

        /// Requests that got as far as to be worked on.
        func asked() throws -> Int {
            var count = 0
            while let part = try channel.readInbound(as: HTTPRequestPart.self) {
                if case .head = part { count += 1 }
            }
            return count
        }

        func answer(_ count: Int) {
            channel.write(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
            channel.write(HTTPResponsePart.body(ByteBuffer(repeating: 1, count: count)), promise: nil)
            channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        }
    }

    @Test("ends one that is not taken in time")
    func stalled() throws {
        let stream = try Stream(UnsentBytes(limit: 1 << 20))
        try stream.ask()
        stream.answer(100)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        #expect(stream.channel.isActive)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!stream.channel.isActive)
    }

    @Test("gives one that is taken slowly a second for each 4 KiB, and one byte a minute nothing")
    func slow() throws {
        let unsent = UnsentBytes(limit: 1 << 20)
        let stream = try Stream(unsent)
        try stream.ask()
        stream.answer(AnswerPaceHandler.piece * 10)
        #expect(stream.window.size == AnswerPaceHandler.piece)
        // The head and four of ten pieces: 16 seconds more.
        stream.window.take(5)
        #expect(unsent.count == AnswerPaceHandler.piece * 6)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(35))
        #expect(stream.channel.isActive)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!stream.channel.isActive)
        #expect(unsent.count == 0, "what an ended stream owed is still counted")
    }

    @Test("keeps what the peer does not take yet as it is, and gives it on in order")
    func kept() throws {
        let unsent = UnsentBytes(limit: 1 << 20)
        let stream = try Stream(unsent)
        for _ in 0..<2 { try stream.ask() }
        stream.window.pieces = 3
        for _ in 0..<2 { stream.answer(AnswerPaceHandler.piece * 10) }
        #expect(stream.window.order == "hbbb" && unsent.count == AnswerPaceHandler.piece * 20)
        stream.window.pieces = 9
        stream.channel.isWritable = true
        stream.channel.pipeline.fireChannelWritabilityChanged()
        #expect(stream.window.order == "hbbb" + "bbbbbbbehbb")
        stream.channel.isWritable = true
        stream.channel.pipeline.fireChannelWritabilityChanged()
        #expect(stream.window.order == "h\(String(repeating: "b", count: 10))eh\(String(repeating: "b", count: 10))e")
        stream.window.take(100)
        #expect(unsent.count == 0)
    }

    @Test("gives on what it keeps before the end of the channel, and refuses it after that")
    func ended() throws {
        let unsent = UnsentBytes(limit: 1 << 20)
        for closes in [true, false] {
            let stream = try Stream(unsent)
            try stream.ask()
            stream.channel.isWritable = false
            let left = stream.channel.eventLoop.makePromise(of: Void.self)
            stream.channel.write(HTTPResponsePart.head(.init(status: .ok)), promise: left)
            stream.channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
            #expect(stream.window.order.isEmpty)
            if closes {
                stream.channel.close(promise: nil)
                #expect(stream.window.order == "hec")
                stream.window.take(2)
                try left.futureResult.wait()
            } else {
                stream.channel.pipeline.fireChannelInactive()
                #expect(throws: ChannelError.ioOnClosedChannel) { try left.futureResult.wait() }
            }
        }
        #expect(unsent.count == 0)
    }

    @Test("ends the claim of an answer when its last byte has left, or with the channel")
    func claims() async throws {
        let accounts = ResponseAccounts.roomy
        for isTaken in [true, false] {
            let carrier = ResponseCarrier(accounts, on: NIOAsyncTestingChannel())
            try await carrier.reserve(upTo: 30_000)
            carrier.finish()
            try endClaim(isTaken, carrier, accounts)
        }
    }

    private func endClaim(_ isTaken: Bool, _ carrier: ResponseCarrier, _ accounts: ResponseAccounts) throws {
        let stream = try Stream(UnsentBytes(limit: 1 << 20), carrier)
        for size in [30_000, 100] {
            try stream.ask()
            stream.answer(size)
        }
        // The head and two pieces; then the end.
        stream.window.take(3)
        #expect(accounts.claimed == 30_000)
        if isTaken { stream.window.take(1) } else { stream.channel.close(promise: nil) }
        #expect(accounts.claimed == 0)
    }

    @Test("does not end what was taken, however long nothing follows")
    func taken() throws {
        let stream = try Stream(UnsentBytes(limit: 1 << 20))
        try stream.ask()
        stream.answer(50_000)
        stream.window.take(100)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(3600))
        #expect(stream.channel.isActive)
    }

    @Test("works on no more requests of a connection that owes too much, and on them in turn when it takes something")
    func held() throws {
        let unsent = UnsentBytes(limit: 30_000)
        let first = try Stream(unsent)
        let others = try (0..<3).map { _ in try Stream(unsent) }
        try first.ask()
        #expect(try first.asked() == 1)
        first.answer(40_000)
        for other in others { try other.ask() }
        #expect(try others.map { try $0.asked() } == [0, 0, 0])
        // The second waits no longer.
        others[1].channel.close(promise: nil)
        first.window.take(2)
        #expect(try others.map { try $0.asked() } == [1, 0, 0])
        first.window.take(100)
        #expect(try others.map { try $0.asked() } == [0, 0, 1])
        #expect(unsent.count == 0)
    }
}

@Suite("Lines that strangers cause")
struct SampledLogTests {
    @Test("are written once in ten seconds for each kind, with the number of those left out")
    func sampled() {
        let log = SampledLog(logger: Logger(label: "test"))
        let start = NIODeadline.uptimeNanoseconds(1000)
        #expect(log.admit("a", at: start) == 0)
        for _ in 0..<5 { #expect(log.admit("a", at: start + .seconds(9)) == nil) }
        #expect(log.admit("b", at: start + .seconds(9)) == 0)
        #expect(log.admit("a", at: start + .seconds(11)) == 5)
        #expect(log.admit("a", at: start + .seconds(22)) == 0)
    }
}
