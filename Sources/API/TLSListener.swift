import Foundation
import HummingbirdCore
import HummingbirdHTTP2
import Identity
import Logging
import NIOCore
import NIOExtras
import NIOHTTP2
import NIOHTTPTypes
import NIOSSL
import NIOTLS
import Operations

/// One accepted TLS connection as HTTP/1.1 or HTTP/2, whichever the handshake chose.
///
/// Composed of the HTTP library's own channels, so that the peer's certificate is read once a connection on its event
/// loop and no request waits for it.
struct TLSListenerChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<HTTP1Channel.Value, HTTP2Channel.Value>>
        let peer: EventLoopFuture<Peer>
        let channel: any Channel
    }

    let tls: ListenerTLS
    /// Judges the chain that the client sent; `nil` where clients need none.
    let verifyChain: (@Sendable ([[UInt8]]) -> Bool)?
    /// Told about each connection before its first request.
    let onConnect: @Sendable (ClientConnection) async -> Void
    let connections: ConnectionTable
    let limits: RequestPolicy
    let open: OpenChannels
    private let http1: HTTP1Channel
    private let http2: HTTP2Channel

    init(
        tls: ListenerTLS, verifyChain: (@Sendable ([[UInt8]]) -> Bool)?,
        onConnect: @escaping @Sendable (ClientConnection) async -> Void, connections: ConnectionTable,
        limits: RequestPolicy, open: OpenChannels, responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.tls = tls
        self.verifyChain = verifyChain
        self.onConnect = onConnect
        self.connections = connections
        self.limits = limits
        self.open = open
        http1 = HTTP1Channel(responder: responder, configuration: Self.configuration(limits, isStream: false))
        http2 = HTTP2Channel(
            responder: responder,
            configuration: HTTP2ChannelConfiguration(
                idleTimeout: .seconds(limits.idleTimeout), gracefulCloseTimeout: .seconds(limits.shutdownTimeout),
                streamConfiguration: Self.configuration(limits, isStream: true)))
    }

    static func configuration(_ limits: RequestPolicy, isStream: Bool) -> HTTP1Channel.Configuration {
        let timeout = TimeAmount.milliseconds(Int64(limits.requestTimeout * 1000))
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                RequestBoundsHandler(timeout: timeout, maximumBody: limits.maximumBody, isStream: isStream)
            ],
            idleTimeout: .milliseconds(Int64(limits.idleTimeout * 1000)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.maximumHeaders, maxHeaderListSize: limits.maximumHeaders,
                maxHeaderFieldCount: limits.maximumHeaderCount))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        open.insert(channel)
        let peer = channel.eventLoop.makePromise(of: Peer.self)
        return channel.eventLoop.makeCompletedFuture {
            // Nothing is read before somebody handles the connection: one that is accepted while the listener closes
            // is handled by nobody, and must not get as far as to send a request.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            if let address = channel.remoteAddress?.ipAddress,
                limits.proxiedNetworks.contains(where: { $0.contains(address) })
            {
                try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler())
            }
            try channel.pipeline.syncOperations.addHandlers([
                tlsHandler(),
                HandshakeHandler(
                    timeout: .milliseconds(Int64(limits.handshakeTimeout * 1000)), wantsCertificate: verifyChain != nil,
                    peer: peer),
            ])
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<
                NIONegotiatedHTTPVersion<HTTP1Channel.Value, HTTP2Channel.Value>
            > { result, channel in
                speak(result, on: channel, logger: logger)
            }
            try channel.pipeline.syncOperations.addHandler(negotiation)
            return Value(
                negotiated: negotiation.protocolNegotiationResult, peer: peer.futureResult, channel: channel)
        }
    }

    /// Sets up the protocol that the handshake chose. Who shook hands while the listener was told to stop is told now.
    private func speak(
        _ result: ALPNResult, on channel: any Channel, logger: Logger
    ) -> EventLoopFuture<NIONegotiatedHTTPVersion<HTTP1Channel.Value, HTTP2Channel.Value>> {
        let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<HTTP1Channel.Value, HTTP2Channel.Value>>
        switch result {
        case .negotiated("h2"):
            negotiated = channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(FlushBeforeCloseHandler())
            }.flatMap {
                http2.setup(channel: channel, logger: logger)
            }.flatMapThrowing { value in
                let operations = channel.pipeline.syncOperations
                try operations.addHandler(
                    GoAwayDeadlineHandler(timeout: .milliseconds(Int64(limits.requestTimeout * 1000))),
                    position: .after(try operations.handler(type: NIOHTTP2Handler.self)))
                return .http2(value)
            }
        case .negotiated("http/1.1"), .fallback:
            negotiated = channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(FirstByteHandler())
            }.flatMap {
                http1.setup(channel: channel, logger: logger)
            }.map { .http1_1($0) }
        case .negotiated:
            return channel.close().flatMap { channel.eventLoop.makeFailedFuture(ChannelError.eof) }
        }
        return negotiated.map { value in
            let handshake = try? channel.pipeline.syncOperations.handler(type: HandshakeHandler.self)
            if handshake?.isStopping == true {
                channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
            return value
        }
    }

    private func tlsHandler() -> NIOSSLServerHandler {
        guard let verifyChain else { return NIOSSLServerHandler(context: tls.sslContext) }
        return NIOSSLServerHandler(context: tls.sslContext) { chain, promise in
            let bytes = chain.compactMap { try? $0.toDERBytes() }
            promise.succeed(bytes.count == chain.count && verifyChain(bytes) ? .certificateVerified : .failed)
        }
    }

    func handle(value: Value, logger: Logger) async {
        do {
            try await value.channel.setOption(.autoRead, value: true).get()
            let protocolChannel = try await value.negotiated.get()
            let peer = try await value.peer.get()
            let connection = peer.thumbprint.map { thumbprint in
                ClientConnection(id: ConnectionID(UUID()), thumbprint: thumbprint) {
                    value.channel.close(promise: nil)
                }
            }
            if let connection { connections.insert(connection) }
            defer { if let connection { connections.remove(connection) } }
            await CurrentConnection.$peerAddress.withValue(peer.address) {
                await CurrentConnection.$value.withValue(connection) {
                    if let connection { await onConnect(connection) }
                    switch protocolChannel {
                    case .http1_1(let channel): await http1.handle(value: channel, logger: logger)
                    case .http2(let channel): await http2.handle(value: channel, logger: logger)
                    }
                }
            }
        } catch {
            logger.debug(
                "a connection ended before its first request", metadata: ["cause": .string(ErrorWords.of(error))])
        }
    }
}
