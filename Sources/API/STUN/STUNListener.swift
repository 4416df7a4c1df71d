import Domain
import Encoding
import Metrics
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Answers STUN Binding Requests over UDP, so that a device learns its external address. It reads no other message,
/// knows no session, and stores nothing.
package struct STUNListener: Service {
    private let address: ListenerAddress
    private let onRunning: @Sendable (Int) -> Void
}

package extension STUNListener {
    /// - Parameter onRunning: called with the port.
    init(at address: ListenerAddress, onRunning: @escaping @Sendable (Int) -> Void) {
        (self.address, self.onRunning) = (address, onRunning)
    }

    func run() async throws {
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: BindingRequest.maximumLength + 4)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Responder()) }
            }
            .bind(host: address.host, port: address.port).get()
        onRunning(channel.localAddress?.port ?? 0)
        await withTaskCancellationOrGracefulShutdownHandler {
            try? await channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            channel.close(promise: nil)
        }
    }

    /// Answers each datagram with one datagram or none.
    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        private var rate = DatagramRate()
        private let answered = Counter(label: "stun_answers")
        private let dropped = Counter(label: "stun_dropped")

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            guard let port = envelope.remoteAddress.port, port > 0, let source = Self.bytes(envelope.remoteAddress),
                rate.admits(source, at: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000_000)),
                let request = BindingRequest(Array(envelope.data.readableBytesView)),
                // Answers are not queued for a peer that reads too slowly.
                context.channel.isWritable
            else { return dropped.increment() }
            let answer = request.answer(to: source, port: UInt16(truncatingIfNeeded: port))
            answered.increment()
            let buffer = context.channel.allocator.buffer(bytes: answer)
            context.writeAndFlush(
                wrapOutboundOut(AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: buffer)), promise: nil)
        }

        /// Ignores an unreachable port, which the system reports for an earlier answer.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {}

        /// The 4 or 16 bytes of an address; an IPv4-mapped IPv6 address has 4.
        private static func bytes(_ address: SocketAddress) -> [UInt8]? {
            IPAddress(address).map { $0.unmapped.bytes }
        }
    }
}
