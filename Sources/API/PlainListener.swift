import HummingbirdCore
import Identity
import Logging
import NIOCore

/// An accepted connection without TLS, as HTTP/1.1: probes and Prometheus on loopback.
struct PlainListenerChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let http1: HTTP1Channel
    private let open: OpenChannels

    init(limits: RequestPolicy, open: OpenChannels, responder: @escaping HTTPChannelHandler.Responder) {
        self.open = open
        http1 = HTTP1Channel(
            responder: responder, configuration: TLSListenerChannel.configuration(limits, isStream: false))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        open.insert(channel)
        return channel.eventLoop.makeCompletedFuture {
            // As in TLSListenerChannel: what nobody handles is not read.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            try channel.pipeline.syncOperations.addHandler(FirstByteHandler())
        }.flatMap {
            http1.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async {
        try? await value.channel.setOption(.autoRead, value: true).get()
        await http1.handle(value: value, logger: logger)
    }
}
