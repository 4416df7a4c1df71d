import Crypto
import Domain
import Encoding
import Foundation
import NIOCore
import NIOExtras
import NIOSSL
import NIOTLS

/// The peer of a connection after its handshake.
struct Peer: Sendable {
    /// SHA-256 of the client's certificate, whose key it has proved to possess; `nil` if none was required.
    let thumbprint: Digest256?
    /// The address of the socket, or the one that a trusted proxy reported (``ProxyHeader``).
    let address: SocketAddress?
}

/// Waits for the end of the TLS handshake, with a deadline, and reports the peer.
///
/// The peer's certificate is read from the TLS handler itself: a resumed connection has one without any callback.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeout: TimeAmount
    private let wantsCertificate: Bool
    private let peer: EventLoopPromise<Peer>
    private let accepted: ListenerConnections
    private let handshakes: Handshakes
    private var deadline: Scheduled<Void>?
    private var isAnswered = false
    private var proxiedAddress: SocketAddress?
    /// Whether the listener stops. Clients that are still in the handshake may send one request.
    private(set) var isStopping = false

    init(
        timeout: TimeAmount, wantsCertificate: Bool, peer: EventLoopPromise<Peer>, accepted: ListenerConnections,
        handshakes: Handshakes
    ) {
        self.timeout = timeout
        self.wantsCertificate = wantsCertificate
        self.peer = peer
        self.accepted = accepted
        self.handshakes = handshakes
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
            fail(.timeout)
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        answer(.failure(ChannelError.eof))
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isAnswered {
            let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
            let expiry = handler?.peerCertificate.map { Date(timeIntervalSince1970: Double($0.notValidAfter)) }
            fail(Handshakes.result(of: error, certificateExpiresAt: expiry, now: Date()))
        }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isStopping = true
            closeUnlessHandled(context.channel)
        case let proxied as ProxiedAddress:
            proxiedAddress = proxied.address
            guard accepted.locate(context.channel, at: IPAddress.limitKey(IPAddress(proxied.address))) else {
                return refuse(context)
            }
        case is GiveWay where !isAnswered: return refuse(context)
        case is ClearText: return refuse(nil)
        case TLSUserEvent.handshakeCompleted:
            guard let other = otherEnd(context) else { return }
            if !isAnswered { handshakes.record(.ok) }
            Self.acknowledge(context.channel)
            answer(.success(other))
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Closes a connection that was accepted while the listener closed, because no task will read it.
    private func closeUnlessHandled(_ channel: any Channel) {
        channel.eventLoop.scheduleTask(in: RequestBoundsHandler.grace) {
            if (try? channel.syncOptions?.getOption(.autoRead)) == false { channel.close(promise: nil) }
        }
    }

    /// The peer after the handshake; `nil` if the connection ends instead.
    private func otherEnd(_ context: ChannelHandlerContext) -> Peer? {
        let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        let thumbprint = (try? handler?.peerCertificate?.toDERBytes()).map { Digest256.of($0) }
        if wantsCertificate {
            guard let thumbprint else {
                fail(.noCertificate)
                context.close(promise: nil)
                return nil
            }
            guard accepted.bind(context.channel, to: thumbprint) else {
                refuse(context)
                return nil
            }
        }
        return Peer(thumbprint: thumbprint, address: proxiedAddress ?? context.channel.remoteAddress)
    }

    /// Acknowledges the client's last message at once. In TLS 1.3 the server sends nothing after it. A client that
    /// combines small writes (RFC 9293 §3.7.4) would wait 40 ms for the acknowledgement before it sends its first
    /// request.
    private static func acknowledge(_ channel: any Channel) {
        #if canImport(Glibc)
            let option = ChannelOptions.Types.SocketOption(
                level: .tcp, name: NIOBSDSocket.Option(rawValue: CInt(TCP_QUICKACK)))
            try? channel.syncOptions?.setOption(option, value: 1)
        #endif
    }

    private func fail(_ result: Handshakes.Result) {
        if !isAnswered { handshakes.record(result) }
        answer(.failure(ChannelError.eof))
    }

    /// Ends the connection. The caller has counted the reason.
    private func refuse(_ context: ChannelHandlerContext?) {
        answer(.failure(ChannelError.eof))
        context?.close(promise: nil)
    }

    private func answer(_ result: Result<Peer, any Error>) {
        guard !isAnswered else { return }
        isAnswered = true
        deadline?.cancel()
        peer.completeWith(result)
    }
}
