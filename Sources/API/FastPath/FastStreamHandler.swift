import Domain
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The fast path of a stream of HTTP/2, between its frames and the handlers that make a request of them. A stream has
/// one request, so answers need no order. The library's own tasks for the stream are notified that it has ended.
final class FastStreamHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let fastPath: FastPath
    private let established: EstablishedConnection
    private let limits: RequestPolicy
    private var isDecided = false
    private var isAnswered = false
    /// A request whose content is incomplete.
    private var held: (headers: InboundIn, request: FastRequest, began: NIODeadline)?
    private var content = ByteBuffer()
    private var pace: AnswerPaceHandler?

    init(_ fastPath: FastPath, _ established: EstablishedConnection, limits: RequestPolicy) {
        self.fastPath = fastPath
        self.established = established
        self.limits = limits
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        pace = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        pace = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let payload = unwrapInboundIn(data)
        if !isDecided {
            isDecided = true
            guard case .headers(let headers) = payload, context.channel.isWritable, fits(headers.headers),
                let request = FastRequest(headers.headers)
            else { return context.fireChannelRead(data) }
            held = (payload, request, .now())
            if headers.endStream { end(context) } else if request.maximumContent == 0 { passOn(context) }
        } else if let held, case .data(let part) = payload, case .byteBuffer(var bytes) = part.data,
            content.readableBytes + bytes.readableBytes <= held.request.maximumContent
        {
            content.writeBuffer(&bytes)
            if part.endStream { end(context) }
        } else {
            passOn(context)
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passOn(context)
        if isAnswered {
            isAnswered = false
            context.flush()
            pace?.watchAnswers()
        }
        context.fireChannelReadComplete()
    }

    /// Whether headers are certainly within the limits of ``FieldLimitsHandler``: the measure here is never smaller.
    private func fits(_ headers: HPACKHeaders) -> Bool {
        guard headers.count <= limits.maximumHeaderCount else { return false }
        var size = 0
        for (name, value, _) in headers { size += name.utf8.count + value.utf8.count }
        return size <= limits.maximumHeaders
    }

    /// Answers the waiting request, which is complete.
    private func end(_ context: ChannelHandlerContext) {
        guard let (headers, request, began) = held else { return }
        held = nil
        guard !answer(request, began, context) else { return }
        context.fireChannelRead(wrapInboundOut(headers))
        guard case .headers(let first) = headers, !first.endStream else { return }
        context.fireChannelRead(wrapInboundOut(.data(.init(data: .byteBuffer(content), endStream: true))))
    }

    private func passOn(_ context: ChannelHandlerContext) {
        guard let (headers, _, _) = held else { return }
        held = nil
        context.fireChannelRead(wrapInboundOut(headers))
        guard content.readableBytes > 0 else { return }
        context.fireChannelRead(wrapInboundOut(.data(.init(data: .byteBuffer(content)))))
    }

    private func answer(_ request: FastRequest, _ began: NIODeadline, _ context: ChannelHandlerContext) -> Bool {
        var body = ByteBuffer()
        pace = try? context.pipeline.syncOperations.handler(type: AnswerPaceHandler.self)
        guard let pace, !pace.isFull,
            let parties = fastPath.write(request, content, on: established.value, to: &body)
        else { return false }
        let id = established.requestIDs.next()
        var fields: HPACKHeaders = [
            ":status": String(request.route.status.code), "content-length": String(body.readableBytes),
            "content-type": "application/json", "cache-control": "no-store",
        ]
        fields.add(name: "x-request-id", value: id, indexing: .nonIndexable)
        fields.add(name: "date", value: fastPath.date.text)
        context.write(wrapOutboundOut(.headers(.init(headers: fields))), promise: nil)
        let left = pace.follow(ahead: body.readableBytes)
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(body), endStream: true))), promise: left)
        isAnswered = true
        fastPath.record(request, of: parties, id: id, elapsed: .nanoseconds((.now() - began).nanoseconds))
        return true
    }
}
