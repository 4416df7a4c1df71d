import Domain
import HummingbirdCore
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
    private let face: ListenerFace

    init(
        limits: RequestPolicy, open: OpenChannels, accepted: ListenerConnections, face: ListenerFace,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.limits = limits
        self.open = open
        self.accepted = accepted
        self.face = face
        http1 = HTTP1Channel(
            responder: responder, configuration: TLSListenerChannel.configuration(limits, face, isStream: false))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        open.insert(channel)
        // Probes are not limited by their address.
        let activity = accepted.insert(channel, from: nil) ?? ConnectionActivity(alone: channel)
        return channel.eventLoop.makeCompletedFuture {
            // As in TLSListenerChannel: what nobody handles is not read.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            try channel.pipeline.syncOperations.addHandler(FirstByteHandler())
        }.flatMap {
            TLSListenerChannel.paced(http1, limits, activity).setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            try MessageRulesHandler.add(to: channel, limits: limits, face: face)
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        try? await value.channel.setOption(.autoRead, value: true).get()
        await http1.handle(value: value, logger: logger)
    }
}
