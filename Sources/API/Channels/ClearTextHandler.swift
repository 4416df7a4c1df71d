import Domain
import Encoding
import Foundation
import NIOCore

/// Says that what came is no handshake, and was answered.
struct ClearText: Sendable {}

/// Looks at the first byte of a connection to a TLS listener. HTTP without TLS is told so in the clear, and the connection
/// ends; everything else is for the handshake, which says what is wrong with it.
final class ClearTextHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long the rest of a request is taken, so that its answer is not lost in a reset.
    private static let linger = TimeAmount.seconds(1)

    private let failures: HandshakeFailures
    private var isRefused = false

    init(failures: HandshakeFailures) {
        self.failures = failures
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        // A method begins with a letter; a record of TLS with its type, 20 to 24 (RFC 8446 §5.1).
        guard let first = unwrapInboundIn(data).readableBytesView.first, Self.letters.contains(first) else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
            return
        }
        isRefused = true
        failures.record(.plainHTTP)
        context.fireUserInboundEventTriggered(ClearText())
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.answer())), promise: nil)
        context.close(mode: .output, promise: nil)
        context.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
    }

    private static let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")

    /// A problem document in an answer of HTTP/1.1, which a client of HTTP/1.0 or of HTTP/2 without TLS can read too.
    static func answer() -> [UInt8] {
        var body: [UInt8] = []
        JSONValue.object([
            "type": .string("urn:countersign:problem:malformed_request"), "title": .string("Bad Request"),
            "status": .integer(400), "code": .string("malformed_request"),
            "detail": .string("This listener speaks HTTP over TLS alone: use https."),
            "request_id": .string(UUID().uuidString.lowercased()),
        ]).appendJSON(to: &body)
        let head =
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: \(body.count)\r\n"
            + "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }
}
