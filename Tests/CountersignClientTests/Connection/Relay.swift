import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Passes bytes between a device and a service, until it is asked to lose an answer: then what the service sends next
/// is thrown away, and the connection ends a moment later.
final class Relay: Sendable {
    let port: Int
    private let listener: any Channel
    private let isLosing: Losing

    final class Losing: Sendable {
        private let value = Mutex(false)
        func set(_ now: Bool) { value.withLock { $0 = now } }
        /// Whether an answer is to be lost; true once.
        func take() -> Bool {
            value.withLock { now in
                defer { now = false }
                return now
            }
        }
    }

    /// - Parameter target: a port of this machine.
    init(to target: Int) async throws {
        let losing = Losing()
        isLosing = losing
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { device in
                ClientBootstrap(group: device.eventLoop).connect(host: "127.0.0.1", port: target).flatMap { service in
                    device.pipeline.addHandler(Passage(to: service, losing: nil)).flatMap {
                        service.pipeline.addHandler(Passage(to: device, losing: losing))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    deinit { listener.close(promise: nil) }

    /// The next answer is lost.
    func loseAnswer() { isLosing.set(true) }

    private final class Passage: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let other: any Channel
        private let losing: Losing?
        private let isLost = Mutex(false)

        init(to other: any Channel, losing: Losing?) {
            self.other = other
            self.losing = losing
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if isLost.withLock({ $0 }) { return }
            if losing?.take() == true {
                isLost.withLock { $0 = true }
                // The service goes on with what it was sent.
                let (one, other) = (context.channel, other)
                context.eventLoop.scheduleTask(in: .milliseconds(500)) {
                    one.close(promise: nil)
                    other.close(promise: nil)
                }
                return
            }
            other.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
    }
}
