import HTTPTypes
import NIOCore
import NIOExtras
import NIOHTTPTypes

/// Says that bytes have come, before anyone makes sense of them: a request begins with its first byte, not with the
/// end of its header.
final class FirstByteHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// What is said.
    struct BytesArrived: Sendable {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(BytesArrived())
        context.fireChannelRead(data)
    }
}

/// Ends a connection whose request does not end in time, and one whose answer says `Connection: close`, once that
/// answer has left. HTTP/2 knows no such field (RFC 9113 §8.2.2): there it is taken out and the connection ended.
///
/// When the listener stops, the last answer that is owed says `Connection: close` (RFC 9112 §9.6). A connection that
/// owes none waits a moment for a request that may be on its way, so that a busy client learns of the end by an answer.
final class RequestBoundsHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long a stopping connection waits for a request.
    static let grace = TimeAmount.milliseconds(500)

    private let timeout: TimeAmount
    private let isStream: Bool
    /// When the request that is being read began.
    private var began: NIODeadline?
    /// Looks after it; rearmed where it comes too early, since most requests end long before and a timer for each would
    /// cost more than the request's reading.
    private var guardian: Scheduled<Void>?
    private var farewell: Scheduled<Void>?
    private var unanswered = 0
    private var closesAfterEnd = false
    private var isStopping = false

    init(timeout: TimeAmount, isStream: Bool) {
        self.timeout = timeout
        self.isStream = isStream
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancelAll()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelAll()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is FirstByteHandler.BytesArrived:
            if began == nil { begin(context) }
        case is ChannelShouldQuiesceEvent where !isStream:
            isStopping = true
            endIfIdle(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            unanswered += 1
            if began == nil { begin(context) }
        case .end: began = nil
        case .body: break
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if isStopping, unanswered <= 1 { head.headerFields[.connection] = "close" }
            closesAfterEnd = head.headerFields[.connection] == "close"
            if isStream { head.headerFields[.connection] = nil }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where closesAfterEnd:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            let connection = isStream ? context.channel.parent ?? context.channel : context.channel
            written.futureResult.whenComplete { _ in connection.close(promise: nil) }
            context.writeAndFlush(data, promise: written)
        case .end:
            unanswered = max(0, unanswered - 1)
            context.write(data, promise: promise)
            if isStopping { endIfIdle(context) }
        case .body: context.write(data, promise: promise)
        }
    }

    /// A request begins.
    private func begin(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        began = now
        if guardian == nil { watch(context.channel, until: now + timeout) }
        farewell?.cancel()
        farewell = nil
    }

    private func watch(_ channel: any Channel, until deadline: NIODeadline) {
        let this = NIOLoopBound(self, eventLoop: channel.eventLoop)
        guardian = channel.eventLoop.scheduleTask(deadline: deadline) {
            let this = this.value
            this.guardian = nil
            guard let began = this.began else { return }
            if began + this.timeout <= .now() {
                channel.close(promise: nil)
            } else {
                this.watch(channel, until: began + this.timeout)
            }
        }
    }

    private func endIfIdle(_ context: ChannelHandlerContext) {
        guard began == nil, unanswered == 0, farewell == nil else { return }
        let channel = context.channel
        farewell = context.eventLoop.scheduleTask(in: Self.grace) { channel.close(promise: nil) }
    }

    private func cancelAll() {
        guardian?.cancel()
        farewell?.cancel()
    }
}
