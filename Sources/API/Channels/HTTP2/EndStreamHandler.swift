import Encoding
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Sets END_STREAM on the last frame of an answer (RFC 9113 §8.1), if the end is known by then: with the last byte that
/// `Content-Length` announces, or with the header of an answer without a body.
///
/// The library ends each answer with an additional empty frame. Clients that count bytes consider the answer complete
/// before it, close the stream themselves and report that (RST_STREAM, STREAM_CLOSED). curl 7.88 does so at every
/// request, and reached the limit on resets after 200 of them (Upstream.md).
final class EndStreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private var asksForHeaderOnly = false
    /// The remaining bytes of the body, if they are known.
    private var left: Int?
    /// A frame that may be the last. It waits for the end, which follows.
    private var held: (payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>?)?

    func handlerRemoved(context: ChannelHandlerContext) {
        drop()
    }

    func channelInactive(context: ChannelHandlerContext) {
        drop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers(let request) = unwrapInboundIn(data), let method = request.headers.first(name: ":method"),
            method.hasSameBytes(as: "HEAD")
        {
            asksForHeaderOnly = true
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let payload = unwrapOutboundIn(data)
        switch payload {
        case .headers(let answer) where !answer.endStream:
            let status = answer.headers.first(name: ":status") ?? ""
            // Informational answers precede the final one.
            guard !status.hasPrefix("1") else { return context.write(data, promise: promise) }
            let hasNoBody = asksForHeaderOnly || status == "204" || status == "304"
            left = hasNoBody ? 0 : answer.headers.first(name: "content-length").flatMap { Int($0) }
            if left == 0 { held = (payload, promise) } else { context.write(data, promise: promise) }
        case .data(let body) where !body.endStream:
            release(context)
            if let expected = left { left = max(0, expected.subtractingReportingOverflow(body.data.readableBytes).0) }
            if left == 0 { held = (payload, promise) } else { context.write(data, promise: promise) }
        case .data(let body) where body.data.readableBytes == 0:
            end(context, data, promise)
        default:
            release(context)
            context.write(data, promise: promise)
        }
    }

    /// The end without more bytes: the waiting frame becomes the last.
    private func end(_ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>?) {
        guard let (payload, earlier) = held else { return context.write(data, promise: promise) }
        held = nil
        if let promise, let earlier { promise.futureResult.cascade(to: earlier) }
        context.write(wrapOutboundOut(Self.ending(payload)), promise: promise ?? earlier)
    }

    private static func ending(_ payload: HTTP2Frame.FramePayload) -> HTTP2Frame.FramePayload {
        switch payload {
        case .headers(var headers):
            headers.endStream = true
            return .headers(headers)
        case .data(var data):
            data.endStream = true
            return .data(data)
        default: return payload
        }
    }

    /// More frames follow the waiting one, so it is sent unchanged.
    private func release(_ context: ChannelHandlerContext) {
        guard let (payload, promise) = held else { return }
        held = nil
        context.write(wrapOutboundOut(payload), promise: promise)
    }

    private func drop() {
        held?.promise?.fail(ChannelError.ioOnClosedChannel)
        held = nil
    }
}
