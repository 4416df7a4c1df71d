import NIOCore
import NIOEmbedded
import NIOHPACK
import Testing

@testable import API

/// A request as a client writes it.
struct WireRequest: Sendable {
    var method = "GET"
    var target = "/sessions/current"
    var fields: [(String, String)] = []
    var body: String?
    var version = "1.1"

    /// As HTTP/1 writes it.
    var bytes: [UInt8] {
        var text = "\(method) \(target) HTTP/\(version)\r\nHost: localhost\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n" + (body ?? "")).utf8)
    }
}

/// The client's end of a connection, past its handshake, in memory.
final class Wire {
    let channel: NIOAsyncTestingChannel
    private let isHTTP2: Bool
    /// How often bytes have left the service.
    private(set) var flushes = 0
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var stream: UInt32 = 1
    private var received: [UInt8] = []

    /// - Parameter takesBodies: whether the windows of its streams are open.
    init(_ channel: NIOAsyncTestingChannel, isHTTP2: Bool, takesBodies: Bool = true) async throws {
        self.channel = channel
        self.isHTTP2 = isHTTP2
        guard isHTTP2 else { return }
        // Connection preface, settings (SETTINGS_INITIAL_WINDOW_SIZE among them), and all of the connection's window
        // (RFC 9113 §3.4, §6.5.2, §6.9.1).
        let settings: [UInt8] = takesBodies ? [] : [0, 4, 0, 0, 0, 0]
        try await write(
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
                + Frame(type: 4, flags: 0, stream: 0, payload: settings).bytes
                + Frame(type: 8, flags: 0, stream: 0, payload: [0x7F, 0, 0, 0]).bytes)
    }

    func write(_ bytes: [UInt8]) async throws {
        try await channel.writeInbound(ByteBuffer(bytes: bytes))
    }

    func close() async {
        _ = try? await channel.close().get()
    }

    /// The loop's time goes on.
    func wait(_ time: TimeAmount) async {
        await channel.testingEventLoop.advanceTime(by: time)
    }

    /// The listener is told to stop.
    func stop() async throws {
        let channel = channel
        try await channel.testingEventLoop.executeInContext {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    var isOpen: Bool { channel.isActive }

    /// Sends a request and takes its answer: all bytes of HTTP/1, or all frames of the stream.
    func exchange(_ request: WireRequest) async throws -> [UInt8] {
        let stream = stream
        try await send(request)
        guard isHTTP2 else { return try await answers(1, isHead: request.method == "HEAD") }
        return try await answer(on: stream)
    }

    func send(_ request: WireRequest) async throws {
        guard isHTTP2 else { return try await write(request.bytes) }
        _ = try await send([request])
    }

    /// Sends requests over HTTP/2 at once: all headers, and then all bodies.
    ///
    /// - Returns: their streams.
    func send(_ requests: [WireRequest]) async throws -> [UInt32] {
        let streams = requests.indices.map { stream + UInt32($0) * 2 }
        stream += UInt32(requests.count) * 2
        let written = try zip(requests, streams).map { try frames(of: $0, $1) }
        try await write(written.flatMap { $0.head } + written.flatMap { $0.body })
        return streams
    }

    /// The next whole answers of HTTP/1.
    func answers(_ count: Int, isHead: Bool = false) async throws -> [UInt8] {
        var lengths = Self.answerLengths(received, isHead: isHead)
        while lengths.count < count {
            received += try await more()
            lengths = Self.answerLengths(received, isHead: isHead)
        }
        let length = lengths.prefix(count).reduce(0, +)
        defer { received.removeFirst(length) }
        return Array(received.prefix(length))
    }

    /// Gives up a stream (RST_STREAM, CANCEL).
    func reset(_ stream: UInt32) async throws {
        try await write(Frame(type: 3, flags: 0, stream: stream, payload: [0, 0, 0, 8]).bytes)
    }

    /// Sends a request's header, and its body in a padded frame for each byte (RFC 9113 §6.1). The request does not end.
    ///
    /// - Returns: its stream.
    func sendPadded(_ request: WireRequest) async throws -> UInt32 {
        let owner = stream
        stream += 2
        let padding = [UInt8](repeating: 0, count: 255)
        let body = (request.body ?? "").utf8.flatMap { byte in
            Frame(type: 0, flags: 8, stream: owner, payload: [255, byte] + padding).bytes
        }
        try await write(try frames(of: request, owner).head + body)
        return owner
    }

    /// How much the service extends the window of a stream next (RFC 9113 §6.9).
    func extended(_ stream: UInt32) async throws -> UInt32 {
        while true {
            let frame = try await frame()
            let numbers = frame.dropFirst(5).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if frame[3] == 8, numbers >> 32 == UInt64(stream) { return UInt32(truncatingIfNeeded: numbers) }
        }
    }

    /// Opens the window of a stream (RFC 9113 §6.9).
    func takeBody(_ stream: UInt32) async throws {
        try await write(Frame(type: 8, flags: 0, stream: stream, payload: [0, 0x10, 0, 0]).bytes)
    }

    private func more() async throws -> [UInt8] {
        flushes += 1
        return Array(try await channel.waitForOutboundWrite(as: ByteBuffer.self).readableBytesView)
    }

    /// How long each whole answer is; one that precedes another (1xx) belongs to it.
    private static func answerLengths(_ bytes: [UInt8], isHead: Bool) -> [Int] {
        var lengths: [Int] = []
        var (start, place) = (0, 0)
        while let end = bytes[place...].firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = String(decoding: bytes[place..<end.lowerBound], as: UTF8.self).lowercased()
            let field = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            let length = isHead ? 0 : field.flatMap { Int($0.dropFirst(16)) } ?? 0
            guard bytes.count >= end.upperBound + length else { break }
            place = end.upperBound + length
            if head.hasPrefix("http/1.1 1") { continue }
            lengths.append(place - start)
            start = place
        }
        return lengths
    }

    // MARK: HTTP/2

    private struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
        let payload: [UInt8]

        var bytes: [UInt8] {
            let count = UInt32(payload.count)
            let length = withUnsafeBytes(of: count.bigEndian) { Array($0.dropFirst()) }
            return length + [type, flags] + withUnsafeBytes(of: stream.bigEndian) { Array($0) } + payload
        }
    }

    private func frames(of request: WireRequest, _ stream: UInt32) throws -> (head: [UInt8], body: [UInt8]) {
        try encoder.beginEncoding(allocator: ByteBufferAllocator())
        try encoder.append(header: ":method", value: request.method)
        try encoder.append(header: ":scheme", value: "https")
        try encoder.append(header: ":authority", value: "localhost")
        try encoder.append(header: ":path", value: request.target)
        for (name, value) in request.fields { try encoder.append(header: name.lowercased(), value: value) }
        let header = Array(try encoder.endEncoding().readableBytesView)
        let end: UInt8 = request.body == nil ? 1 : 0
        let head = Frame(type: 1, flags: 4 | end, stream: stream, payload: header).bytes
        let body = request.body.map { Frame(type: 0, flags: 1, stream: stream, payload: Array($0.utf8)).bytes }
        return (head, body ?? [])
    }

    /// The frames of a stream up to the one that ends it.
    func answer(on stream: UInt32) async throws -> [UInt8] {
        try await answers(on: [stream])[stream] ?? []
    }

    /// The frames of each of these streams, up to the one that ends it.
    func answers(on streams: [UInt32]) async throws -> [UInt32: [UInt8]] {
        var found: [UInt32: [UInt8]] = [:]
        var open = Set(streams)
        while !open.isEmpty {
            let frame = try await frame()
            let owner = frame[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard open.contains(owner) else { continue }
            found[owner, default: []] += frame
            // END_STREAM, or a stream that was reset.
            if (frame[3] <= 1 && frame[4] & 1 == 1) || frame[3] == 3 { open.remove(owner) }
        }
        return found
    }

    /// Acknowledges the next ping of the service (RFC 9113 §6.7).
    func acknowledgePing() async throws {
        while true {
            let frame = try await frame()
            guard frame[3] == 6, frame[4] == 0 else { continue }
            return try await write(Frame(type: 6, flags: 1, stream: 0, payload: Array(frame[9...])).bytes)
        }
    }

    /// The next frame of any stream.
    private func frame() async throws -> [UInt8] {
        while true {
            if received.count >= 9 {
                let length = 9 + (Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2]))
                if received.count >= length {
                    defer { received.removeFirst(length) }
                    return Array(received.prefix(length))
                }
            }
            received += try await more()
        }
    }
}
