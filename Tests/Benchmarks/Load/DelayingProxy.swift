import NIOCore
import NIOPosix
import Synchronization

/// Stands between the service and PostgreSQL as a network would: what it passes on arrives later, in both directions.
final class DelayingProxy: Sendable {
    private let channel: any Channel
    private let asked: Trips

    /// How often a client said something after it was answered, or as its first word.
    final class Trips: Sendable {
        let count = Atomic(0)
    }

    private init(channel: any Channel, asked: Trips) { (self.channel, self.asked) = (channel, asked) }

    /// Round trips so far, of all connections.
    var roundTrips: Int { asked.count.load(ordering: .relaxed) }

    /// Listens at one path of a socket and passes on to another.
    ///
    /// - Parameter roundTrip: half of it passes before anything arrives.
    static func start(
        at path: String, to server: String, roundTrip: TimeAmount, on group: MultiThreadedEventLoopGroup
    ) async throws -> DelayingProxy {
        let asked = Trips()
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { client in
                let link = Link(loop: client.eventLoop, delay: .nanoseconds(roundTrip.nanoseconds / 2), asked)
                // What the client says is read when the server is there.
                return ClientBootstrap(group: client.eventLoop)
                    .channelInitializer { server in
                        server.eventLoop.makeCompletedFuture {
                            try server.pipeline.syncOperations.addHandler(End(link, isClient: false))
                        }
                    }
                    .connect(unixDomainSocketPath: server)
                    .flatMapThrowing { server in
                        link.join(client, server)
                        try client.pipeline.syncOperations.addHandler(End(link, isClient: true))
                    }
            }
            .bind(unixDomainSocketPath: path).get()
        return DelayingProxy(channel: channel, asked: asked)
    }

    func close() async throws { try await channel.close() }

    /// Two connections that are one to those at their ends.
    private final class Link: Sendable {
        private struct State {
            var client: (any Channel)?
            var server: (any Channel)?
            /// What is under way to each end, first in first out; `nil` for the connection's end.
            var toClient: [ByteBuffer?] = []
            var toServer: [ByteBuffer?] = []
            var isAnswered = true
        }

        private let state: NIOLoopBoundBox<State>
        private let loop: any EventLoop
        private let delay: TimeAmount
        private let asked: Trips

        init(loop: any EventLoop, delay: TimeAmount, _ asked: Trips) {
            (self.loop, self.delay, self.asked) = (loop, delay, asked)
            state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
        }

        func join(_ client: any Channel, _ server: any Channel) {
            (state.value.client, state.value.server) = (client, server)
        }

        /// Passes on what came from an end.
        func pass(_ bytes: ByteBuffer?, fromClient: Bool) {
            if fromClient {
                if state.value.isAnswered, bytes != nil { asked.count.add(1, ordering: .relaxed) }
                if bytes != nil { state.value.isAnswered = false }
                state.value.toServer.append(bytes)
            } else {
                state.value.isAnswered = true
                state.value.toClient.append(bytes)
            }
            loop.scheduleTask(in: delay) { [self] in arrive(atClient: !fromClient) }
        }

        private func arrive(atClient: Bool) {
            let bytes = atClient ? state.value.toClient.removeFirst() : state.value.toServer.removeFirst()
            let channel = atClient ? state.value.client : state.value.server
            guard let bytes else {
                channel?.close(promise: nil)
                return
            }
            channel?.writeAndFlush(bytes, promise: nil)
        }
    }

    /// One end of a link.
    private final class End: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let link: Link
        private let isClient: Bool

        init(_ link: Link, isClient: Bool) { (self.link, self.isClient) = (link, isClient) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            link.pass(unwrapInboundIn(data), fromClient: isClient)
        }

        func channelInactive(context: ChannelHandlerContext) {
            link.pass(nil, fromClient: isClient)
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
