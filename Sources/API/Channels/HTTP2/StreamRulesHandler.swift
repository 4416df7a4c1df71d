import NIOCore
import NIOHTTP2

/// Resets an HTTP/2 stream whose request is malformed (RFC 9113 §8.1.1), before a request is made of its frames. The
/// defect may be in its header block, its trailers, or the length of its body.
final class StreamRulesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let watch: GoingAwayHandler.Watch
    private let carrier: ResponseCarrier
    private var hasBegun = false
    private var isOver = false
    private var length: Int?
    private var received = 0

    /// - Parameter carrier: learns that a body comes whose length is not declared.
    init(_ watch: GoingAwayHandler.Watch, tells carrier: ResponseCarrier) {
        (self.watch, self.carrier) = (watch, carrier)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        guard keepsRules(unwrapInboundIn(data)) else {
            isOver = true
            watch.refused()
            context.writeAndFlush(wrapOutboundOut(.rstStream(.protocolError)), promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    private func keepsRules(_ payload: HTTP2Frame.FramePayload) -> Bool {
        switch payload {
        case .headers(let headers) where !hasBegun:
            guard let block = RequestBlock(headers.headers) else { return false }
            hasBegun = true
            length = block.length
            if length == nil, !headers.endStream { carrier.expectUndeclaredBody() }
            return !headers.endStream || isWhole
        case .headers(let trailers): return RequestBlock.areTrailers(trailers.headers) && isWhole
        case .data(let part):
            received += part.data.readableBytes
            return part.endStream ? isWhole : received <= length ?? .max
        default: return true
        }
    }

    private var isWhole: Bool { length == nil || length == received }
}
