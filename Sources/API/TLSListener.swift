import Foundation
import HummingbirdCore
import HummingbirdHTTP2
import Identity
import Logging
import NIOCore
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
        let peer: EventLoopFuture<Digest256?>
        let channel: any Channel
    }

    let sslContext: NIOSSLContext
    /// Judges the chain that the client sent; `nil` where clients need none.
    let verifyChain: (@Sendable ([[UInt8]]) -> Bool)?
    /// Told about each connection before its first request.
    let onConnect: @Sendable (ClientConnection) async -> Void
    let connections: ConnectionTable
    let limits: RequestPolicy
    private let http1: HTTP1Channel
    private let http2: HTTP2Channel

    init(
        sslContext: NIOSSLContext, verifyChain: (@Sendable ([[UInt8]]) -> Bool)?,
        onConnect: @escaping @Sendable (ClientConnection) async -> Void, connections: ConnectionTable,
        limits: RequestPolicy, responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.sslContext = sslContext
        self.verifyChain = verifyChain
        self.onConnect = onConnect
        self.connections = connections
        self.limits = limits
        http1 = HTTP1Channel(responder: responder, configuration: Self.configuration(limits, isStream: false))
        http2 = HTTP2Channel(
            responder: responder,
            configuration: HTTP2ChannelConfiguration(
                idleTimeout: .seconds(limits.idleTimeout), gracefulCloseTimeout: .seconds(5),
                streamConfiguration: Self.configuration(limits, isStream: true)))
    }

    static func configuration(_ limits: RequestPolicy, isStream: Bool) -> HTTP1Channel.Configuration {
        let timeout = TimeAmount.milliseconds(Int64(limits.requestTimeout * 1000))
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestBoundsHandler(timeout: timeout, isStream: isStream)],
            idleTimeout: .milliseconds(Int64(limits.idleTimeout * 1000)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.maximumHeaders, maxHeaderListSize: limits.maximumHeaders,
                maxHeaderFieldCount: limits.maximumHeaderCount))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let peer = channel.eventLoop.makePromise(of: Digest256?.self)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
                tlsHandler(),
                HandshakeHandler(
                    timeout: .milliseconds(Int64(limits.handshakeTimeout * 1000)), wantsCertificate: verifyChain != nil,
                    peer: peer),
            ])
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<
                NIONegotiatedHTTPVersion<HTTP1Channel.Value, HTTP2Channel.Value>
            > { result, channel in
                switch result {
                case .negotiated("h2"): http2.setup(channel: channel, logger: logger).map { .http2($0) }
                case .negotiated("http/1.1"), .fallback:
                    http1.setup(channel: channel, logger: logger).map { .http1_1($0) }
                case .negotiated:
                    channel.close().flatMap { channel.eventLoop.makeFailedFuture(ChannelError.eof) }
                }
            }
            try channel.pipeline.syncOperations.addHandler(negotiation)
            return Value(
                negotiated: negotiation.protocolNegotiationResult, peer: peer.futureResult, channel: channel)
        }
    }

    private func tlsHandler() -> NIOSSLServerHandler {
        guard let verifyChain else { return NIOSSLServerHandler(context: sslContext) }
        return NIOSSLServerHandler(context: sslContext) { chain, promise in
            let bytes = chain.compactMap { try? $0.toDERBytes() }
            promise.succeed(bytes.count == chain.count && verifyChain(bytes) ? .certificateVerified : .failed)
        }
    }

    func handle(value: Value, logger: Logger) async {
        do {
            let protocolChannel = try await value.negotiated.get()
            let thumbprint = try await value.peer.get()
            let connection = thumbprint.map { thumbprint in
                ClientConnection(id: ConnectionID(UUID()), thumbprint: thumbprint) {
                    value.channel.close(promise: nil)
                }
            }
            if let connection { connections.insert(connection) }
            defer { if let connection { connections.remove(connection) } }
            await CurrentConnection.$peerAddress.withValue(value.channel.remoteAddress) {
                await CurrentConnection.$value.withValue(connection) {
                    if let connection { await onConnect(connection) }
                    switch protocolChannel {
                    case .http1_1(let channel): await http1.handle(value: channel, logger: logger)
                    case .http2(let channel): await http2.handle(value: channel, logger: logger)
                    }
                }
            }
        } catch {
            logger.debug("a connection ended before its first request", metadata: ["cause": "\(error)"])
        }
    }
}
