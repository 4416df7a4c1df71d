import Crypto
import Foundation
import HTTPTypes
import Identity
import NIOCore
import NIOHTTPTypes
import NIOSSL
import NIOTLS
import Operations

/// Waits for the end of the TLS handshake, not for ever, and says who is at the other end.
///
/// The peer's certificate is read from the TLS handler itself: a resumed connection has one without any callback
/// having run.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeout: TimeAmount
    private let wantsCertificate: Bool
    private let peer: EventLoopPromise<Digest256?>
    private var deadline: Scheduled<Void>?
    private var isAnswered = false

    init(timeout: TimeAmount, wantsCertificate: Bool, peer: EventLoopPromise<Digest256?>) {
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
        if case .handshakeCompleted = event as? TLSUserEvent {
            let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
            let der = try? handler?.peerCertificate?.toDERBytes()
            if wantsCertificate, der == nil {
                answer(.failure(ChannelError.eof))
                context.close(promise: nil)
                return
            }
            answer(.success(der.map { Digest256.of($0) }))
            context.fireUserInboundEventTriggered(event)
            // Done: nothing of the connection's traffic needs to pass through here.
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func answer(_ result: Result<Digest256?, any Error>) {
        guard !isAnswered else { return }
        isAnswered = true
        deadline?.cancel()
        peer.completeWith(result)
    }
}

/// Ends a connection whose request does not end in time, and one whose answer says `Connection: close`, once that
/// answer has left. HTTP/2 knows no such field (RFC 9113 §8.2.2): there it is taken out and the connection ended.
final class RequestBoundsHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let timeout: TimeAmount
    private let isStream: Bool
    /// Looks after the request; rearmed when it fires early, since most requests end long before.
    private var guardian: Scheduled<Void>?
    private var requestBegan: NIODeadline?
    private var closesAfterEnd = false

    init(timeout: TimeAmount, isStream: Bool) {
        self.timeout = timeout
        self.isStream = isStream
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        guardian?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        guardian?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            let now = NIODeadline.now()
            requestBegan = now
            if guardian == nil { watch(context.channel, until: now + timeout) }
        case .end: requestBegan = nil
        case .body: break
        }
        context.fireChannelRead(data)
    }

    private func watch(_ channel: any Channel, until deadline: NIODeadline) {
        let this = NIOLoopBound(self, eventLoop: channel.eventLoop)
        guardian = channel.eventLoop.scheduleTask(deadline: deadline) {
            let this = this.value
            this.guardian = nil
            guard let began = this.requestBegan else { return }
            if began + this.timeout <= .now() {
                channel.close(promise: nil)
            } else {
                this.watch(channel, until: began + this.timeout)
            }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.headerFields[.connection] == "close":
            closesAfterEnd = true
            if isStream { head.headerFields[.connection] = nil }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where closesAfterEnd:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            let connection = isStream ? context.channel.parent ?? context.channel : context.channel
            written.futureResult.whenComplete { _ in connection.close(promise: nil) }
            context.writeAndFlush(data, promise: written)
        default: context.write(data, promise: promise)
        }
    }
}
