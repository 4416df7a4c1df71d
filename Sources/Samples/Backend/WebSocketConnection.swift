import NIOCore
import NIOWebSocket

/// A WebSocket (RFC 6455) for texts. Outgoing texts wait in a short queue. If a reader is too slow for it, the
/// connection is closed, and the reader reconnects to catch up.
package struct WebSocketConnection: Sendable {
    /// The maximum size of a text in bytes.
    static let maximumSize = 16 * 1024
    /// The maximum number of waiting texts.
    private static let queueLength = 64
    private static let pingInterval: Duration = .seconds(20)

    private enum Outgoing: Sendable {
        case text(String)
        case pong(ByteBuffer)
        case ping
        case close(WebSocketErrorCode)
    }

    /// The texts from the other side, until it closes.
    package let texts: AsyncStream<String>
    private let outgoing: AsyncStream<Outgoing>.Continuation

    static func serve(
        _ channel: NIOAsyncChannel<WebSocketFrame, WebSocketFrame>, _ work: @escaping SocketWork
    ) async {
        let (texts, received) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(16))
        let (queue, outgoing) = AsyncStream.makeStream(
            of: Outgoing.self, bufferingPolicy: .bufferingOldest(queueLength))
        let socket = WebSocketConnection(texts: texts, outgoing: outgoing)
        try? await channel.executeThenClose { inbound, outbound in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await read(inbound, received, outgoing)
                    } catch {
                        _ = outgoing.yield(.close((error as? Refused)?.code ?? .protocolError))
                    }
                    received.finish()
                    outgoing.finish()
                }
                group.addTask {
                    while (try? await Task.sleep(for: pingInterval)) != nil { _ = outgoing.yield(.ping) }
                }
                group.addTask {
                    await work(socket)
                    socket.close(.goingAway)
                }
                // The end of the connection ends the queue, and so the writing.
                try? await write(queue, outbound)
                channel.channel.close(promise: nil)
                group.cancelAll()
            }
        }
    }
}

package extension WebSocketConnection {
    /// Sends a text, or closes the connection if the other side is too slow.
    func send(_ text: String) {
        if case .dropped = outgoing.yield(.text(text)) { outgoing.finish() }
    }

    /// Closes the connection with a code, after the waiting texts were sent.
    func close(_ code: WebSocketErrorCode) {
        _ = outgoing.yield(.close(code))
        outgoing.finish()
    }

    /// A message in several frames.
    private struct Fragments {
        private var data = ByteBuffer()
        private var count = 0

        /// Adds a frame.
        ///
        /// - Returns: the complete text after the last frame, otherwise `nil`.
        /// - Throws: ``Refused``.
        mutating func add(_ frame: WebSocketFrame) throws -> String? {
            guard (frame.opcode == .text) == (count == 0) else { throw Refused(code: .protocolError) }
            var part = frame.unmaskedData
            count += 1
            guard count <= 16, data.readableBytes + part.readableBytes <= maximumSize else {
                throw Refused(code: .messageTooLarge)
            }
            data.writeBuffer(&part)
            guard frame.fin else { return nil }
            defer { self = Fragments() }
            guard let text = String(validating: data.readableBytesView, as: UTF8.self) else {
                throw Refused(code: .dataInconsistentWithMessage)
            }
            return text
        }
    }

    /// Why the connection is closed.
    private struct Refused: Error { let code: WebSocketErrorCode }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>, _ received: AsyncStream<String>.Continuation,
        _ outgoing: AsyncStream<Outgoing>.Continuation
    ) async throws {
        var fragments = Fragments()
        for try await frame in inbound {
            // A client masks each frame (RFC 6455 §5.1).
            guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
                throw Refused(code: .protocolError)
            }
            switch frame.opcode {
            case .text, .continuation:
                guard let text = try fragments.add(frame) else { continue }
                // A client that sends faster than the store writes must wait for responses.
                guard case .enqueued = received.yield(text) else { throw Refused(code: .policyViolation) }
            case .ping: _ = outgoing.yield(.pong(frame.unmaskedData))
            case .pong: break
            case .connectionClose: throw Refused(code: .normalClosure)
            case .binary: throw Refused(code: .unacceptableData)
            default: throw Refused(code: .protocolError)
            }
        }
    }

    private static func write(
        _ queue: AsyncStream<Outgoing>, _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async throws {
        for await next in queue {
            switch next {
            case .text(let text):
                try await outbound.write(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)))
            case .pong(let data): try await outbound.write(WebSocketFrame(fin: true, opcode: .pong, data: data))
            case .ping: try await outbound.write(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()))
            case .close(let code):
                var data = ByteBuffer()
                data.write(webSocketErrorCode: code)
                try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
                return
            }
        }
        var data = ByteBuffer()
        data.write(webSocketErrorCode: .unknown(1013))
        try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
    }
}
