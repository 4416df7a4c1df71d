import Domain
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Refuses malformed HTTP/1 requests with a problem document, after the answers that are still due, and closes the
/// connection. Marks the last answer of a connection. It comes before the HTTP library, which knows neither the
/// protocol's version nor how often a field was sent.
///
/// A body that cannot be read becomes an error for its reader, which then answers.
final class MessageRulesHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limits: RequestPolicy
    private let face: ListenerFace
    private let requestIDs: RequestIDs
    private var bytes: FirstByteHandler?
    /// The number of requests whose answer is not complete.
    private var unanswered = 0
    private var isReadingBody = false
    private var isLast = false
    private var saysKeepAlive = false
    private var defect: (HTTPDefect, HTTPRequest.Method?)?
    private var isOver = false
    private var linger: Scheduled<Void>?

    init(limits: RequestPolicy, face: ListenerFace, requestIDs: RequestIDs) {
        self.limits = limits
        self.face = face
        self.requestIDs = requestIDs
    }

    /// Adds the handler between the decoder of HTTP/1 and the one that makes general requests of its parts.
    static func add(
        to channel: any Channel, limits: RequestPolicy, face: ListenerFace, requestIDs: RequestIDs
    ) throws {
        let operations = channel.pipeline.syncOperations
        try operations.addHandler(
            MessageRulesHandler(limits: limits, face: face, requestIDs: requestIDs),
            position: .before(try operations.handler(type: HTTP1ToHTTPServerCodec.self)))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        bytes = try? context.pipeline.syncOperations.handler(type: FirstByteHandler.self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        linger?.cancel()
        bytes = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard defect == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            if let defect = MessageRules.defect(of: head) {
                return refuse(defect, HTTPRequest.Method(head.method.rawValue), context)
            }
            unanswered += 1
            isReadingBody = true
            saysKeepAlive = head.version == .http1_0
            isLast = MessageRules.isLast(head)
            guard isLast || saysKeepAlive else { return context.fireChannelRead(data) }
            // One spelling, because the library recognizes only this one.
            if isLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
            if saysKeepAlive { head.headers.remove(name: "expect") }
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: context.fireChannelRead(data)
        case .end:
            isReadingBody = false
            bytes?.expectRequestLine()
            context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError || error is HTTP1TypeConversionError || error is ByteToMessageDecoderError else {
            return context.fireErrorCaught(error)
        }
        guard defect == nil, !isOver else { return }
        switch error as? HTTPParserError {
        // The client closed its side in the middle of a request, or sent more after its last one.
        case .invalidEOFState: isReadingBody ? context.fireErrorCaught(ClientGone()) : context.close(promise: nil)
        case .closedConnection: break
        case .headerOverflow:
            let isTarget = bytes.map { $0.requestLine > limits.maximumHeaders } ?? false
            refuse(isTarget ? .targetTooLong : .fieldsTooLarge, nil, context)
        default: refuse(.malformed("This is not a valid HTTP/1.1 request."), nil, context)
        }
    }

    private func refuse(_ found: HTTPDefect, _ method: HTTPRequest.Method?, _ context: ChannelHandlerContext) {
        defect = (found, method)
        if isReadingBody {
            context.fireErrorCaught(found)
        } else if unanswered == 0 {
            answer(context)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.code >= 200:
            if isLast, unanswered <= 1 {
                head.headers.replaceOrAdd(name: "connection", value: "close")
            } else if saysKeepAlive, !head.headers.contains(name: "connection") {
                head.headers.add(name: "connection", value: "keep-alive")
            }
            isOver = isOver || head.headers.first(name: "connection") == "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            unanswered = max(0, unanswered - 1)
            context.write(data, promise: promise)
            if defect != nil, !isReadingBody, unanswered == 0 { answer(context) }
        default: context.write(data, promise: promise)
        }
    }

    /// Sends the refusal and closes the connection. Further input is read for a moment and discarded, since closing
    /// over unread bytes resets the connection and may destroy the answer (RFC 9112 §9.6).
    private func answer(_ context: ChannelHandlerContext) {
        guard let (defect, method) = defect, !isOver else { return }
        isOver = true
        let (head, body) = face.refuse(defect, method, id: requestIDs.next())
        context.write(wrapOutboundOut(.head(HTTPResponseHead(head))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        linger = context.eventLoop.scheduleTask(in: RequestBoundsHandler.linger) { channel.close(promise: nil) }
    }
}
