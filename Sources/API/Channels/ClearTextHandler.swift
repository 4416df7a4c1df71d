import Domain
import HTTPTypes
import NIOCore

/// The event that a connection did not begin with a handshake and was answered.
struct ClearText: Sendable {}

/// Checks the first byte of a connection to a TLS listener. HTTP without TLS gets an answer in clear text, and the
/// connection closes. Everything else is passed to the handshake, which reports its errors.
final class ClearTextHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long the rest of a request is read, so that a reset does not destroy the answer.
    private static let linger = TimeAmount.seconds(1)

    private let handshakes: Handshakes
    private let face: ListenerFace
    private var isRefused = false

    init(handshakes: Handshakes, face: ListenerFace) {
        self.handshakes = handshakes
        self.face = face
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        // A method begins with a letter, a TLS record with its type, 20 to 24 (RFC 8446 §5.1).
        guard let first = unwrapInboundIn(data).readableBytesView.first, Self.letters.contains(first) else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
            return
        }
        isRefused = true
        handshakes.record(.plainHTTP)
        context.fireUserInboundEventTriggered(ClearText())
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(answer()), promise: nil)
        context.close(mode: .output, promise: nil)
        context.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
    }

    private static let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")

    /// A problem document as HTTP/1.1, which clients of HTTP/1.0 and of HTTP/2 without TLS can read too.
    private func answer() -> ByteBuffer {
        let id = face.newRequestIDs().next()
        let problem = Problem(HTTPDefect.malformed("This listener accepts only HTTP over TLS. Use https."))
        var (fields, body) = problem.document(requestID: id, from: face)
        fields.append(.requestID(id))
        var answer = ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n")
        for field in fields { answer.writeString("\(field.name.rawName): \(field.value)\r\n") }
        answer.writeStaticString("Connection: close\r\n\r\n")
        answer.writeImmutableBuffer(body)
        return answer
    }
}
