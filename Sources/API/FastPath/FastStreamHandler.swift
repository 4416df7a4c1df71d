import Domain
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The fast path of a stream of HTTP/2, between its frames and what makes a request of them. A stream carries one request,
/// so that nothing comes out of order; who waits for the library's own parts on it is told that it has ended.
final class FastStreamHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let fastPath: FastPath
    private let established: EstablishedConnection
    private let limits: RequestPolicy
    private var isDecided = false
    private var isAnswered = false
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
        guard !isDecided else { return context.fireChannelRead(data) }
        isDecided = true
        guard case .headers(let request) = unwrapInboundIn(data), request.endStream, context.channel.isWritable,
            fits(request.headers), answer(request.headers, context)
        else { return context.fireChannelRead(data) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isAnswered {
            isAnswered = false
            context.flush()
            pace?.watchAnswers()
        }
        context.fireChannelReadComplete()
    }

    /// The limits that ``FieldLimitsHandler`` holds, by a measure that is never smaller.
    private func fits(_ headers: HPACKHeaders) -> Bool {
        guard headers.count <= limits.maximumHeaderCount else { return false }
        var size = 0
        for (name, value, _) in headers { size += name.utf8.count + value.utf8.count }
        return size <= limits.maximumHeaders
    }

    private func answer(_ headers: HPACKHeaders, _ context: ChannelHandlerContext) -> Bool {
        let began = NIODeadline.now()
        var body = ByteBuffer()
        guard let request = FastRequest(headers), let connection = established.value else { return false }
        pace = try? context.pipeline.syncOperations.handler(type: AnswerPaceHandler.self)
        guard let pace, !pace.isFull, fastPath.write(request, on: connection, to: &body) else { return false }
        let fields: HPACKHeaders = [
            ":status": String(request.route.status.code), "content-length": String(body.readableBytes),
            "content-type": "application/json", "cache-control": "no-store", "date": fastPath.date.text,
        ]
        context.write(wrapOutboundOut(.headers(.init(headers: fields))), promise: nil)
        let left = pace.follow(ahead: body.readableBytes)
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(body), endStream: true))), promise: left)
        isAnswered = true
        fastPath.record(request, elapsed: .nanoseconds((.now() - began).nanoseconds))
        return true
    }
}
