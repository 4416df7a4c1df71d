import Domain
import HTTPTypes
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

    private let handshakes: Handshakes
    private let face: ListenerFace
    private var isRefused = false

    init(handshakes: Handshakes, face: ListenerFace) {
        self.handshakes = handshakes
        self.face = face
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
        handshakes.record(.plainHTTP)
        context.fireUserInboundEventTriggered(ClearText())
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(answer()), promise: nil)
        context.close(mode: .output, promise: nil)
        context.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
    }

    private static let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")

    /// A problem document in an answer of HTTP/1.1, which a client of HTTP/1.0 or of HTTP/2 without TLS can read too.
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
