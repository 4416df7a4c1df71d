import NIOCore
import NIOHTTP2

/// The event that a peer sends so many frames without a request that its connection ends.
struct TooManyFrames: Sendable {}

/// The event that a peer has not ended a frame or a header block in time.
struct LateFrame: Sendable {}

/// Corrects the error of a header block on a stream whose request has ended, which is half-closed (remote):
/// STREAM_CLOSED (RFC 9113 §5.1). The HTTP library resets the stream with PROTOCOL_ERROR (Upstream.md).
///
/// This handler comes before the library, and sees its frames as bytes. The library writes a reset first and then
/// reports the cause to the next handlers. So a reset and what follows it wait until the cause is known. All frames wait
/// for the next flush (``FrameBytes``).
///
/// A frame and a header block have the time of a request: the library keeps what it has of them, and no stream exists
/// yet that could have a deadline.
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
    private let timeout: TimeAmount
    /// What has arrived in part: its number, and when it began.
    private var partial: (number: UInt64, since: NIODeadline)?
    /// The timer. It is set again if it fires too early.
    private var timer: Scheduled<Void>?

    /// - Parameter timeout: the longest time from the first byte of a frame or a header block to its last.
    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
        held = []
        for promise in bytes.take()?.promises ?? [] { promise.fail(ChannelError.ioOnClosedChannel) }
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if flood.receive(unwrapInboundIn(data).readableBytesView, at: NIODeadline.now().uptimeNanoseconds) {
            return context.fireUserInboundEventTriggered(TooManyFrames())
        }
        notePartial(context)
        isReading = true
        context.fireChannelRead(data)
        isReading = false
        release()
    }

    private func notePartial(_ context: ChannelHandlerContext) {
        guard flood.isPartial else {
            partial = nil
            return
        }
        guard partial?.number != flood.whole else { return }
        let now = context.eventLoop.now
        partial = (flood.whole, now)
        if timer == nil { watch(context, from: now) }
    }

    private func watch(_ context: ChannelHandlerContext, from since: NIODeadline) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: since + timeout) { [self] in
            timer = nil
            guard let partial else { return }
            if partial.since + timeout <= context.eventLoop.now {
                context.fireUserInboundEventTriggered(LateFrame())
            } else {
                watch(context, from: partial.since)
            }
        }
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
