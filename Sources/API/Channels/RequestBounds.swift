import HTTPTypes
import NIOCore
import NIOExtras
import NIOHTTPTypes

/// Reports the first bytes of a request to ``RequestBoundsHandler`` before they are parsed: a request begins with its
/// first byte, not with the end of its header. It calls that handler, because an event would pass all others.
final class FirstByteHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The length of the current request line so far.
    private(set) var requestLine = 0
    private var isInRequestLine = true

    /// The next bytes begin a request.
    func expectRequestLine() {
        requestLine = 0
        isInRequestLine = true
    }

    /// The context for bytes that need no encoding.
    private var context: ChannelHandlerContext?
    private var bounds: RequestBoundsHandler?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        (self.context, bounds) = (nil, nil)
    }

    func send(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isInRequestLine {
            let bytes = unwrapInboundIn(data).readableBytesView
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
            requestLine += bytes.distance(from: bytes.startIndex, to: end ?? bytes.endIndex)
            isInRequestLine = end == nil
        }
        // It was added later than this handler.
        if bounds == nil { bounds = try? context.pipeline.syncOperations.handler(type: RequestBoundsHandler.self) }
        bounds?.beginRequest()
        context.fireChannelRead(data)
    }
}

/// Ends a connection whose request does not end in time, and one whose answer says `Connection: close`, after that
/// answer was sent. HTTP/2 has no such field (RFC 9113 §8.2.2): there it is removed, and the connection closes in order
/// (``GoingAwayHandler``).
///
/// A body that is too large is refused while it arrives. The rest is read for a moment, since closing over unread bytes
/// resets the connection and may destroy the answer (RFC 9112 §9.6). With HTTP/2 only the stream ends. If the answer
/// does not depend on the body, a body beyond the limit ends the connection or stream.
///
/// A client that waits for permission to send its body gets it when a handler wants to read the body. If no handler
/// reads it, the answer is the last on its connection, or ends its stream: the next bytes might be that body or a new
/// request (RFC 9110 §10.1.1). An incomplete body is an error for its reader, never a shorter body.
///
/// When the listener stops, the last due answer says `Connection: close` (RFC 9112 §9.6). A connection without one
/// waits a moment for a request that may be under way, so that a busy client learns of the end from an answer.
final class RequestBoundsHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The event that a handler wants to read the body of the current request.
    struct BodyWanted: Sendable {}

    /// How long a connection waits for a request when the listener stops.
    static let grace = TimeAmount.milliseconds(500)

    /// How long the rest of a refused request is read.
    static let linger = TimeAmount.seconds(5)

    private let timeout: TimeAmount
    private let maximumBody: Int
    private let isStream: Bool
    private var began: NIODeadline?
    /// The timer. It is set again if it fires too early: most requests end long before, and one timer for each would
    /// cost more than reading the request.
    private var guardian: Scheduled<Void>?
    private var farewell: Scheduled<Void>?
    private var unanswered = 0
    private var closesAfterEnd = false
    private var isStopping = false
    private var received = 0
    private var isRefusedWhileRead = false
    /// Whether the client waits for permission to send its body.
    private var awaitsBody = false
    private var isLingering = false
    private var context: ChannelHandlerContext?

    init(timeout: TimeAmount, maximumBody: Int, isStream: Bool) {
        self.timeout = timeout
        self.maximumBody = maximumBody
        self.isStream = isStream
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancelAll()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelAll()
        if began != nil, unanswered > 0 { context.fireErrorCaught(ClientGone()) }
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent where !isStream:
            isStopping = true
            endIfIdle(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isLingering else { return readOn(data, context) }
        switch unwrapInboundIn(data) {
        case .head(let head):
            unanswered += 1
            received = 0
            awaitsBody = head.headerFields.waitsForPermission
            if began == nil { begin(context) }
        case .end:
            began = nil
            awaitsBody = false
        case .body(let bytes):
            awaitsBody = false
            received += bytes.readableBytes
            if received > maximumBody, unanswered == 0 { return context.close(promise: nil) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if awaitsBody || (isStopping && unanswered <= 1) { head.headerFields[.connection] = "close" }
            closesAfterEnd = head.headerFields[.connection] == "close"
            isRefusedWhileRead = closesAfterEnd && (awaitsBody || Self.leavesUnread.contains(head.status.code))
            awaitsBody = false
            if isStream { head.headerFields[.connection] = nil }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where closesAfterEnd:
            unanswered = max(0, unanswered - 1)
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            written.futureResult.hop(to: context.eventLoop).whenComplete { _ in this.value.0.part(this.value.1) }
            context.writeAndFlush(data, promise: written)
        case .end:
            unanswered = max(0, unanswered - 1)
            context.write(data, promise: promise)
            if isStopping { endIfIdle(context) }
        case .body: context.write(data, promise: promise)
        }
    }

    /// Statuses of refusals before the request is read completely. They end a stream of HTTP/2, not its connection.
    private static let leavesUnread = [400, 413, 431, 501]

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        promise?.succeed()
        guard awaitsBody else { return }
        awaitsBody = false
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    /// The first bytes of a request have arrived, or further ones.
    func beginRequest() {
        if let context, began == nil, !isLingering { begin(context) }
    }

    /// The current request was read and answered before it reached this handler.
    func endRequest() {
        began = nil
    }

    /// Ends the connection, or announces its end, after the last answer was sent.
    private func part(_ context: ChannelHandlerContext) {
        let channel = context.channel
        guard isRefusedWhileRead else {
            guard isStream, let connection = channel.parent else { return channel.close(promise: nil) }
            // Other streams may wait for answers: the connection announces its end and closes after them.
            return connection.pipeline.fireUserInboundEventTriggered(LastAnswer())
        }
        guard began != nil, !isStream, channel.isActive else { return channel.close(promise: nil) }
        isLingering = true
        farewell?.cancel()
        farewell = channel.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
        context.read()
    }

    /// Reads and discards the rest of a refused request.
    private func readOn(_ data: NIOAny, _ context: ChannelHandlerContext) {
        if case .end = unwrapInboundIn(data) { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // No later handler requests more input.
        if isLingering { context.read() }
    }

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
