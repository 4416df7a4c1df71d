import Crypto
import Foundation
import Identity
import NIOCore
import NIOExtras
import NIOSSL
import NIOTLS

/// Who is at the other end of a connection, once its handshake has ended.
struct Peer: Sendable {
    /// SHA-256 of the certificate that the client proved to hold the key of; `nil` where it needed none.
    let thumbprint: Digest256?
    /// Where it comes from: the socket's address, or what a proxy of ours says (``ProxyHeader``).
    let address: SocketAddress?
}

/// Waits for the end of the TLS handshake, not for ever, and says who is at the other end.
///
/// The peer's certificate is read from the TLS handler itself: a resumed connection has one without any callback
/// having run.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeout: TimeAmount
    private let wantsCertificate: Bool
    private let peer: EventLoopPromise<Peer>
    private var deadline: Scheduled<Void>?
    private var isAnswered = false
    private var proxiedAddress: SocketAddress?
    /// Whether the listener stops: who is still shaking hands may ask once.
    private(set) var isStopping = false

    init(timeout: TimeAmount, wantsCertificate: Bool, peer: EventLoopPromise<Peer>) {
        self.timeout = timeout
        self.wantsCertificate = wantsCertificate
        self.peer = peer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        answer(.failure(ChannelError.eof))
    }

    func channelInactive(context: ChannelHandlerContext) {
        answer(.failure(ChannelError.eof))
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isStopping = true
            closeUnlessHandled(context.channel)
        case let proxied as ProxiedAddress: proxiedAddress = proxied.address
        case TLSUserEvent.handshakeCompleted:
            let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
            let der = try? handler?.peerCertificate?.toDERBytes()
            if wantsCertificate, der == nil {
                answer(.failure(ChannelError.eof))
                context.close(promise: nil)
                return
            }
            answer(
                .success(
                    Peer(
                        thumbprint: der.map { Digest256.of($0) },
                        address: proxiedAddress ?? context.channel.remoteAddress)))
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Ends a connection that was accepted in the moment in which the listener closed: nobody reads it, nobody will.
    private func closeUnlessHandled(_ channel: any Channel) {
        channel.eventLoop.scheduleTask(in: RequestBoundsHandler.grace) {
            if (try? channel.syncOptions?.getOption(.autoRead)) == false { channel.close(promise: nil) }
        }
    }

    private func answer(_ result: Result<Peer, any Error>) {
        guard !isAnswered else { return }
        isAnswered = true
        deadline?.cancel()
        peer.completeWith(result)
    }
}
