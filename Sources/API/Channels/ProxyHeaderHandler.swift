import Encoding
import NIOCore

/// The client's address by a trusted proxy.
struct ProxiedAddress: Sendable {
    let address: SocketAddress
}

/// Removes the PROXY header from a connection whose network must send one, before TLS. A connection that begins with
/// anything else is closed without an answer. The handshake's time-out applies meanwhile.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let handshakes: Handshakes
    private var collected = ByteBuffer()
    private var isDone = false

    init(handshakes: Handshakes) {
        self.handshakes = handshakes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        collected.writeBuffer(&bytes)
        do throws(ProxyHeader.Defect) {
            guard case .complete(let header, let length) = try ProxyHeader.read(collected.readableBytesView) else {
                return
            }
            isDone = true
            collected.moveReaderIndex(forwardBy: length)
            announce(header, context)
        } catch {
            isDone = true
            collected.clear()
            handshakes.record(.proxyHeader)
            context.fireUserInboundEventTriggered(ClearText())
            context.close(promise: nil)
        }
    }

    private func announce(_ header: ProxyHeader, _ context: ChannelHandlerContext) {
        if case .address(let address, let port) = header.source,
            let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: Int(port))
        {
            context.fireUserInboundEventTriggered(ProxiedAddress(address: address))
        }
        if collected.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(collected)) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
