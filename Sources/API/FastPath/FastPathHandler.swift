import NIOCore
import NIOExtras
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOTLS

/// The fast path of a connection of HTTP/1.1, between the decoder and the handlers that make requests of its parts.
/// Answers bypass the encoder as bytes. Requests that were read together are answered with one write.
///
/// A request is kept from its head to its end, if both are read together. It is passed on in these cases: it has too
/// much content, the routes have an answer due, the peer does not read its answers, or the listener stops.
final class FastPathHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The most bytes of answers that wait for the end of a read.
    private static let mostPending = 65_536

    private let fastPath: FastPath
    private let established: EstablishedConnection
    private let idleTimeout: TimeAmount
    /// Succeeds with what the connection's task must see.
    private let routed: EventLoopPromise<Void>
    private var isRouted = false
    private var turn = AnswerTurn()
    private var held: (head: HTTPRequestHead, request: FastRequest, began: NIODeadline)?
    /// The content of the waiting request read so far.
    private var content = ByteBuffer()
    private var body = ByteBuffer()
    private var pending = ByteBuffer()
    /// What became of the requests of one reading.
    private var (hasAnswered, hasPassedOn) = (false, false)
    private var lastUse = NIODeadline.distantPast
    private var idleTimer: Scheduled<Void>?
    /// The handlers that count requests and answers, which must be notified of these.
    private var bytes: FirstByteHandler?
    private var bounds: RequestBoundsHandler?
    private var pace: AnswerPaceHandler?

    /// - Parameter routed: completed with the first request for the routes, with an event, an error or the end.
    init(
        _ fastPath: FastPath, _ established: EstablishedConnection, idleTimeout: TimeAmount,
        routed: EventLoopPromise<Void>
    ) {
        self.fastPath = fastPath
        self.routed = routed
        self.established = established
        self.idleTimeout = idleTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let operations = context.pipeline.syncOperations
        bytes = try? operations.handler(type: FirstByteHandler.self)
        bounds = try? operations.handler(type: RequestBoundsHandler.self)
        pace = try? operations.handler(type: AnswerPaceHandler.self)
        lastUse = context.eventLoop.now
        watch(context, until: lastUse + idleTimeout)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        release()
    }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { turn.endConnection() }
        // The end of the handshake alone is not for the task.
        if !(event is TLSUserEvent) { callRoutes() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        passOnHeld(context)
        callRoutes()
        context.fireErrorCaught(error)
    }

    private func callRoutes() {
        guard !isRouted else { return }
        isRouted = true
        routed.succeed()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            lastUse = context.eventLoop.now
            if mayAnswer(context), let request = FastRequest(head) {
                held = (head, request, .now())
                content.clear()
            } else {
                turn.passOn()
                passOn(data, context)
            }
        case .body(var part):
            if let held, content.readableBytes + part.readableBytes <= held.request.maximumContent {
                content.writeBuffer(&part)
                return
            }
            lastUse = context.eventLoop.now
            passOnHeld(context)
            passOn(data, context)
        case .end(let trailers):
            if let (_, request, began) = held, trailers == nil, answer(request, began) {
                held = nil
                return
            }
            lastUse = context.eventLoop.now
            passOnHeld(context)
            turn.endRequest()
            passOn(data, context)
        }
    }

    private func mayAnswer(_ context: ChannelHandlerContext) -> Bool {
        turn.isOurs && context.channel.isWritable && pending.readableBytes < Self.mostPending && pace?.isFull == false
    }

    private func passOn(_ data: NIOAny, _ context: ChannelHandlerContext) {
        hasPassedOn = true
        callRoutes()
        context.fireChannelRead(data)
    }

    private func passOnHeld(_ context: ChannelHandlerContext) {
        guard let (head, _, _) = held else { return }
        held = nil
        turn.passOn()
        passOn(wrapInboundOut(.head(head)), context)
        if content.readableBytes > 0 { passOn(wrapInboundOut(.body(content)), context) }
    }

    private func answer(_ request: FastRequest, _ began: NIODeadline) -> Bool {
        // A local value needs no check of exclusive access. Its storage is used again.
        var body = self.body
        self.body = ByteBuffer()
        defer { self.body = body }
        body.clear()
        guard let parties = fastPath.write(request, content, on: established.value, to: &body) else { return false }
        let id = established.requestIDs.next()
        pending.writeAnswer(request, id: id, date: fastPath.date.text, body: body)
        hasAnswered = true
        bytes?.expectRequestLine()
        bounds?.endRequest()
        fastPath.record(request, of: parties, id: id, elapsed: .nanoseconds((.now() - began).nanoseconds))
        return true
    }

    // MARK: Answers

    func channelReadComplete(context: ChannelHandlerContext) {
        passOnHeld(context)
        send()
        // After answers alone the next handlers have nothing to complete.
        if hasPassedOn || !hasAnswered { context.fireChannelReadComplete() }
        (hasAnswered, hasPassedOn) = (false, false)
    }

    /// Sends waiting answers before those of the routes.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        send()
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.headers.first(name: "connection") == "close": turn.endConnection()
        case .end: if turn.endAnswer() { lastUse = context.eventLoop.now }
        default: break
        }
        context.write(data, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        send()
        context.close(mode: mode, promise: promise)
    }

    private func send() {
        guard pending.readableBytes > 0, let bytes else { return }
        let answers = pending
        pending = ByteBuffer()
        bytes.send(answers, promise: pace?.follow(ahead: answers.readableBytes))
        pace?.watchAnswers()
    }

    // MARK: Idleness

    /// Closes an unused connection: the library's own timer comes after this handler and does not see all uses.
    private func watch(_ context: ChannelHandlerContext, until deadline: NIODeadline) {
        idleTimer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            if turn.isAwaited { lastUse = context.eventLoop.now }
            guard lastUse + idleTimeout <= context.eventLoop.now else {
                return watch(context, until: lastUse + idleTimeout)
            }
            context.close(promise: nil)
        }
    }

    private func release() {
        callRoutes()
        idleTimer?.cancel()
        (idleTimer, held, bytes, bounds, pace) = (nil, nil, nil, nil, nil)
        pending = ByteBuffer()
    }
}

extension FastPathHandler {
    /// Adds a handler right after the decoder of HTTP/1.
    ///
    /// - Returns: a promise that completes when the connection's task has something to do. It may be completed earlier.
    static func add(
        _ fastPath: FastPath, to channel: any Channel, _ established: EstablishedConnection, idleTimeout: TimeAmount
    ) throws -> EventLoopPromise<Void> {
        let operations = channel.pipeline.syncOperations
        let routed = channel.eventLoop.makePromise(of: Void.self)
        do {
            try operations.addHandler(
                FastPathHandler(fastPath, established, idleTimeout: idleTimeout, routed: routed),
                position: .before(try operations.handler(type: MessageRulesHandler.self)))
        } catch {
            routed.succeed()
            throw error
        }
        return routed
    }
}

extension ByteBuffer {
    /// An HTTP/1.1 answer with the same fields in the same order as the routes' answer.
    fileprivate mutating func writeAnswer(_ request: FastRequest, id: String, date: String, body: ByteBuffer) {
        switch request.question {
        case .session, .introspection, .exchange: writeStaticString("HTTP/1.1 200 OK\r\nContent-Length: ")
        case .nonce: writeStaticString("HTTP/1.1 201 Created\r\nContent-Length: ")
        }
        writeString(String(body.readableBytes))
        writeStaticString("\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nX-Request-ID: ")
        writeString(id)
        writeStaticString("\r\nDate: ")
        writeString(date)
        writeStaticString("\r\n\r\n")
        writeImmutableBuffer(body)
    }
}

/// Whether the fast path may answer now on a connection of HTTP/1.1. Answers leave in the order of their requests (RFC
/// 9112 §9.3.2).
struct AnswerTurn {
    /// The number of requests that the routes have not answered completely.
    private var unanswered = 0
    /// Whether a request for the routes is still being read.
    private var isReading = false
    /// Whether an answer closed the connection or the listener stops. Then only the routes answer.
    private(set) var isOver = false

    /// Whether the next request may be answered before the routes get it.
    var isOurs: Bool { unanswered == 0 && !isReading && !isOver }

    /// Whether a complete request waits for the routes. The connection is then not idle.
    var isAwaited: Bool { unanswered > 0 && !isReading }

    mutating func passOn() {
        unanswered += 1
        isReading = true
    }

    mutating func endRequest() { isReading = false }

    /// Records that a routes' answer has ended; `true` if it was the last due one.
    mutating func endAnswer() -> Bool {
        unanswered = max(0, unanswered - 1)
        return unanswered == 0
    }

    mutating func endConnection() { isOver = true }
}
