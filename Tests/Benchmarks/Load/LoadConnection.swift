import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An answer as the load program needs it.
struct Answer: Sendable {
    let status: Int
    let body: ByteBuffer
    /// `ETag`, with its quotes.
    let entityTag: String?
    /// From the first byte sent to the last received.
    let nanoseconds: Int64
}

/// A keep-alive HTTP/1.1 connection over TLS that sends requests one after the other. It reads only what our answers
/// are made of (`Content-Length`), to cost little beside the service on the same machine.
final class LoadConnection: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private struct Work {
        var requests: [ByteBuffer] = []
        var next = 0
        var answers: [Answer] = []
        var sentAt = NIODeadline.now()
        var received = ByteBuffer()
        var promise: EventLoopPromise<[Answer]>?
        /// How often the present request may still be sent again.
        var repetitionsLeft = 0
    }

    /// How many requests of ``run(_:repeating:)`` were sent again.
    static let repeated = Atomic(0)

    private let work: NIOLoopBoundBox<Work>
    private let channel: NIOLoopBoundBox<(any Channel)?>
    private let loop: any EventLoop

    private init(loop: any EventLoop) {
        self.loop = loop
        work = NIOLoopBoundBox.makeBoxSendingValue(Work(), eventLoop: loop)
        channel = NIOLoopBoundBox.makeBoxSendingValue(nil, eventLoop: loop)
    }

    /// Connects and completes the handshake with the first request.
    ///
    /// - Parameter tls: `nil` for a listener without TLS.
    static func open(
        port: Int, tls: NIOSSLContext?, on loop: any EventLoop
    ) async throws -> LoadConnection {
        let connection = LoadConnection(loop: loop)
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                    }
                    try channel.pipeline.syncOperations.addHandler(connection)
                    connection.channel.value = channel
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        _ = channel
        return connection
    }

    /// Sends each request after the answer to the one before it.
    ///
    /// - Parameter repetitions: how often one is sent again that is answered 503, each after a second as `Retry-After`
    ///   says. A disk that stalls has the service refuse everything. Its time goes on.
    func run(_ requests: [ByteBuffer], repeating repetitions: Int = 0) async throws -> [Answer] {
        guard !requests.isEmpty else { return [] }
        return try await loop.flatSubmit { [self] in
            // A request that cannot leave has no answer, and nobody would say so later.
            guard channel.value?.isActive == true else { return loop.makeFailedFuture(ChannelError.eof) }
            let promise = loop.makePromise(of: [Answer].self)
            var state = Work()
            state.requests = requests
            state.answers.reserveCapacity(requests.count)
            state.promise = promise
            state.repetitionsLeft = repetitions
            work.value = state
            sendNext()
            return promise.futureResult
        }.get()
    }

    /// Waits for the end of the connection; when it came.
    func end() async throws -> ContinuousClock.Instant {
        try await loop.flatSubmit { [self] in
            (channel.value?.closeFuture ?? loop.makeSucceededVoidFuture()).map { ContinuousClock.now }
        }.get()
    }

    func close() async {
        try? await loop.flatSubmit { [self] in channel.value?.close() ?? loop.makeSucceededVoidFuture() }.get()
    }

    private func sendNext() {
        work.value.sentAt = .now()
        work.value.next += 1
        sendPresent()
    }

    private func sendPresent() {
        channel.value?.writeAndFlush(work.value.requests[work.value.next - 1], promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        work.value.received.writeBuffer(&bytes)
        guard let (status, body, tag) = Self.takeAnswer(&work.value.received) else { return }
        if status == 503, work.value.repetitionsLeft > 0 {
            work.value.repetitionsLeft -= 1
            Self.repeated.add(1, ordering: .relaxed)
            loop.scheduleTask(in: .seconds(1)) { [self] in sendPresent() }
            return
        }
        let elapsed = (NIODeadline.now() - work.value.sentAt).nanoseconds
        work.value.answers.append(Answer(status: status, body: body, entityTag: tag, nanoseconds: elapsed))
        if work.value.next < work.value.requests.count {
            sendNext()
        } else {
            finish(nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(ChannelError.eof)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(error)
        context.close(promise: nil)
    }

    private func finish(_ error: (any Error)?) {
        guard let promise = work.value.promise else { return }
        work.value.promise = nil
        if let error { promise.fail(error) } else { promise.succeed(work.value.answers) }
    }

    /// Takes one whole answer out of what has arrived.
    private static func takeAnswer(_ buffer: inout ByteBuffer) -> (Int, ByteBuffer, String?)? {
        let view = buffer.readableBytesView
        guard let end = view.firstRange(of: "\r\n\r\n".utf8) else { return nil }
        let head = String(decoding: view[..<end.lowerBound], as: UTF8.self).lowercased()
        let headLength = view.distance(from: view.startIndex, to: end.upperBound)
        let length =
            head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingPrefix(" ")) } ?? 0
        let tag = head.split(separator: "\r\n").first { $0.hasPrefix("etag:") }
            .map { String($0.dropFirst(5).trimmingPrefix(" ")) }
        guard buffer.readableBytes >= headLength + length else { return nil }
        buffer.moveReaderIndex(forwardBy: headLength)
        let body = buffer.readSlice(length: length) ?? ByteBuffer()
        if buffer.readableBytes == 0 { buffer.clear() }
        return (Int(head.dropFirst(9).prefix(3)) ?? 0, body, tag)
    }
}

/// Builds the bytes of requests.
enum RequestBytes {
    static func make(
        _ method: String, _ path: String, headers: [String] = [], body: String? = nil,
        type: String = "application/json"
    ) -> ByteBuffer {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        for header in headers { text += header + "\r\n" }
        if let body {
            text += "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        } else {
            text += "\r\n"
        }
        return ByteBuffer(string: text)
    }
}
