import NIOCore
import NIOHTTP2

/// The event that a peer sends so many frames without a request that its connection ends.
struct TooManyFrames: Sendable {}

/// Corrects the error of a header block on a stream whose request has ended, which is half-closed (remote):
/// STREAM_CLOSED (RFC 9113 §5.1). The HTTP library resets the stream with PROTOCOL_ERROR (Upstream.md).
///
/// This handler comes before the library, and sees its frames as bytes. The library writes a reset first and then
/// reports the cause to the next handlers. So a reset and what follows it wait until the cause is known. All frames wait
/// for the next flush (``FrameBytes``).
final class HalfClosedStreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var isReading = false
    private var held: [(frame: IOData, promise: EventLoopPromise<Void>?)] = []
    private var isFlushHeld = false
    private var context: ChannelHandlerContext?
    private var flood = FrameFlood()
    private var bytes = FrameBytes()

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
        held = []
        for promise in bytes.take()?.promises ?? [] { promise.fail(ChannelError.ioOnClosedChannel) }
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if flood.receive(unwrapInboundIn(data).readableBytesView, at: NIODeadline.now().uptimeNanoseconds) {
            return context.fireUserInboundEventTriggered(TooManyFrames())
        }
        isReading = true
        context.fireChannelRead(data)
        isReading = false
        release()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let frame = unwrapOutboundIn(data)
        flood.send(frame.readableBytes)
        if isReading, Self.isProtocolErrorOfStream(frame) {
            release()
            held = [(frame, promise)]
        } else if held.isEmpty {
            join(frame, promise, context)
        } else {
            held.append((frame, promise))
        }
    }

    func flush(context: ChannelHandlerContext) {
        guard held.isEmpty else {
            isFlushHeld = true
            return
        }
        writeJoined(context)
        context.flush()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let notice = event as? LeaveNotice else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        write(context: context, data: wrapOutboundOut(.byteBuffer(notice.frame)), promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        release()
        writeJoined(context)
        context.close(mode: mode, promise: promise)
    }

    private func release() {
        guard let context, !held.isEmpty else { return }
        let (frames, wantsFlush) = (held, isFlushHeld)
        (held, isFlushHeld) = ([], false)
        for (frame, promise) in frames { join(frame, promise, context) }
        if wantsFlush { flush(context: context) }
    }

    private func join(_ frame: IOData, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        if case .byteBuffer(let piece) = frame {
            if !bytes.fits(piece) { writeJoined(context) }
            if bytes.add(piece, promise) { return }
        } else {
            writeJoined(context)
        }
        context.write(wrapOutboundOut(frame), promise: promise)
    }

    private func writeJoined(_ context: ChannelHandlerContext) {
        guard let joined = bytes.take() else { return }
        context.write(
            wrapOutboundOut(.byteBuffer(joined.bytes)), promise: joined.promise(on: context.eventLoop))
    }

    /// The library has reported the cause of the reset.
    fileprivate func learn(_ error: any Error) {
        if let state = (error as? NIOHTTP2Errors.BadStreamStateTransition)?.fromState, Self.halfClosed.contains(state),
            case .byteBuffer(var frame)? = held.first?.frame
        {
            frame.setInteger(Self.streamClosed, at: frame.readerIndex + Self.codeOffset)
            held[0].frame = .byteBuffer(frame)
        }
        release()
    }

    private static let halfClosed: Set<NIOHTTP2StreamState> = [
        .halfClosedRemoteLocalIdle, .halfClosedRemoteLocalActive,
    ]
    /// The error code of RFC 9113 §7.
    private static let protocolError: UInt32 = 1
    private static let streamClosed: UInt32 = 5
    /// The offset after length, type, flags and stream (RFC 9113 §4.1).
    private static let codeOffset = 9

    /// Whether bytes are a RST_STREAM frame (RFC 9113 §6.4) with this code.
    private static func isProtocolErrorOfStream(_ data: IOData) -> Bool {
        guard case .byteBuffer(let frame) = data, frame.readableBytes == codeOffset + 4 else { return false }
        let start = frame.readerIndex
        return frame.getInteger(at: start, as: UInt32.self) == 0x0000_0403
            && frame.getInteger(at: start + codeOffset, as: UInt32.self) == protocolError
    }

    /// Comes after the library in the pipeline and receives its errors.
    final class Ear: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTP2Frame

        private let handler: HalfClosedStreamHandler

        init(_ handler: HalfClosedStreamHandler) {
            self.handler = handler
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            handler.learn(error)
            context.fireErrorCaught(error)
        }
    }
}
