import HummingbirdCore
import Identity
import Logging
import NIOCore
import NIOHTTPTypes

/// An accepted connection without TLS, as HTTP/1.1: probes and Prometheus on loopback.
struct PlainListenerChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let http1: HTTP1Channel
    private let limits: RequestPolicy
    private let open: OpenChannels
    private let accepted: ListenerConnections

    init(
        limits: RequestPolicy, open: OpenChannels, accepted: ListenerConnections,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.limits = limits
        self.open = open
        self.accepted = accepted
        http1 = HTTP1Channel(
            responder: responder, configuration: TLSListenerChannel.configuration(limits, isStream: false))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        open.insert(channel)
        // Probes are not limited by their address.
        let standing = accepted.insert(channel, from: nil) ?? ConnectionStanding(alone: channel)
        return channel.eventLoop.makeCompletedFuture {
            // As in TLSListenerChannel: what nobody handles is not read.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            try channel.pipeline.syncOperations.addHandler(FirstByteHandler())
        }.flatMap {
            TLSListenerChannel.paced(http1, limits, standing).setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async {
        try? await value.channel.setOption(.autoRead, value: true).get()
        await http1.handle(value: value, logger: logger)
    }
}
