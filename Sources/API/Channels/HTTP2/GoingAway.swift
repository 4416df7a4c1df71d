import NIOCore
import NIOHTTP2

/// The event that the answer on a stream was the connection's last: the connection closes after its open streams.
struct LastAnswer: Sendable {}

/// The outbound event that announces the end of a connection, before a stream is named the last (RFC 9113 §6.8).
///
/// ``HalfClosedStreamHandler`` writes the frame. The library would refuse all streams after it, and end the connection
/// at the content of one (Upstream.md).
struct LeaveNotice: Sendable {
    /// A GOAWAY frame with the largest stream identifier and NO_ERROR.
    var frame: ByteBuffer { ByteBuffer(bytes: [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]) }
}

/// Closes an HTTP/2 connection in order (RFC 9113 §6.8): when it is idle, when the listener stops, or after a last
/// answer.
///
/// It first announces that no more streams are accepted, together with a ping. Streams that the peer opened before it
/// knew are served. The answer to the ping shows that the peer knows. Then the last stream is named, and the connection
/// closes after the last open stream. It does not wait for a peer that ignores the ping. Streams have deadlines of
/// their own.
///
/// It comes right after the library in the pipeline, and so counts all streams, also those of the fast path.
final class GoingAwayHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private enum Stage {
        case open
        case told(HTTP2PingData)
        case known
    }

    private let idleTimeout: TimeAmount
    private let pingTimeout: TimeAmount
    private let progress: ConnectionProgress
    private var stage = Stage.open
    private var streams: Set<HTTP2StreamID> = []
    private var last = HTTP2StreamID.rootStream
    /// Ends the wait for streams, or for the answer to the ping. The first is set again if it fires too early.
    private var timer: Scheduled<Void>?
    /// When the last stream ended.
    private var idleSince = NIODeadline.now()
    private var context: ChannelHandlerContext?
    /// Whether the library has already sent its own GOAWAY.
    private var isGivenUp = false
    private var refused = 0
    /// The shares of its networks that the connection has for its streams.
    private var shares = 0
    /// The number of streams that need no share. An app rarely has more at once.
    static let freeStreams = 4
    /// The number of refused or malformed streams that a connection may have over its life.
    private static let patience = 1000

    init(idleTimeout: TimeAmount, pingTimeout: TimeAmount, progress: ConnectionProgress) {
        self.idleTimeout = idleTimeout
        self.pingTimeout = pingTimeout
        self.progress = progress
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        waitForStreams()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        keepShares(0)
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        keepShares(0)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .told(let ping) = stage, case .ping(let answer, ack: true) = unwrapInboundIn(data).payload,
            answer == ping
        {
            stage = .known
            timer?.cancel()
            timer = nil
            write(.goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil))
            context.flush()
            closeIfDone()
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is NIOHTTP2WindowUpdatedEvent: break
        case let created as NIOHTTP2StreamCreatedEvent: opened(created.streamID)
        case let ended as StreamClosedEvent:
            // The stream's channel ends before its connection may.
            context.fireUserInboundEventTriggered(event)
            return closed(ended.streamID)
        case is ChannelShouldQuiesceEvent, is LastAnswer: leave()
        case is GiveWay:
            guard progress.givesWay() else { break }
            // There are no streams, so nothing that the peer sends now was processed. It may repeat it elsewhere.
            end(streams.isEmpty ? .noError : .enhanceYourCalm)
        case is AnswersNotTaken, is TooManyFrames, is LateFrame: end(.enhanceYourCalm)
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of one stream ends only that stream, which the multiplexer notifies.
        if error is NIOHTTP2Errors.StreamError { return context.fireErrorCaught(error) }
        guard error is any NIOHTTP2Error, !isGivenUp else { return context.close(promise: nil) }
    }

    private func leave() {
        guard case .open = stage, let context else { return }
        let ping = HTTP2PingData(withInteger: .random(in: .min ... .max))
        stage = .told(ping)
        context.triggerUserOutboundEvent(LeaveNotice(), promise: nil)
        write(.ping(ping, ack: false))
        context.flush()
        let channel = context.channel
        timer?.cancel()
        timer = context.eventLoop.scheduleTask(in: pingTimeout) { channel.close(promise: nil) }
    }

    private func end(_ code: HTTP2ErrorCode) {
        guard let context else { return }
        write(.goAway(lastStreamID: last, errorCode: code, opaqueData: nil))
        context.flush()
        context.close(promise: nil)
    }

    private func write(_ payload: HTTP2Frame.FramePayload) {
        context?.write(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }

    /// Without streams, starts the idle timeout. A timer for each wait would cost as much as a short answer.
    private func waitForStreams() {
        guard case .open = stage, let context else { return }
        idleSince = context.eventLoop.now
        if timer == nil { watch(context) }
    }

    private func watch(_ context: ChannelHandlerContext) {
        let end = idleSince + idleTimeout
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { [self] in
            timer = nil
            guard case .open = stage, streams.isEmpty else { return }
            if idleSince + idleTimeout <= context.eventLoop.now { leave() } else { watch(context) }
        }
    }

    private func opened(_ stream: HTTP2StreamID) {
        if streams.insert(stream).inserted { progress.begin() }
        last = max(last, stream)
    }

    private func closed(_ stream: HTTP2StreamID) {
        guard streams.remove(stream) != nil else { return }
        progress.end()
        keepShares(streams.count - Self.freeStreams)
        guard streams.isEmpty else { return }
        waitForStreams()
        closeIfDone()
    }

    /// Takes a share of the connection's networks for a stream that needs one; `false` if none is left.
    private func takeShare(for stream: HTTP2StreamID) -> Bool {
        // A stream may get its channel before this handler has heard of it.
        let count = streams.contains(stream) ? streams.count : streams.count + 1
        guard count - Self.freeStreams > shares else { return true }
        guard progress.takeShare() else { return false }
        shares += 1
        return true
    }

    private func keepShares(_ count: Int) {
        while shares > max(0, count) {
            progress.returnShare()
            shares -= 1
        }
    }

    /// Counts a refused or malformed stream.
    private func refuse() {
        refused += 1
        if refused == Self.patience { end(.enhanceYourCalm) }
    }

    /// Closes one tick later: the end of the last stream is written but not yet flushed.
    private func closeIfDone() {
        guard case .known = stage, streams.isEmpty, let context else { return }
        context.eventLoop.assumeIsolated().execute { [self] in
            guard streams.isEmpty else { return }
            context.close(promise: nil)
        }
    }

    /// What other handlers ask of the connection's streams and report, on its event loop.
    struct Watch: NIOHTTP2FrameDelegate {
        private let handler: NIOLoopBound<GoingAwayHandler>

        init(_ handler: GoingAwayHandler, on eventLoop: any EventLoop) {
            self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        }

        /// Whether a stream is accepted beside the others. The limit applies even before the peer has acknowledged our
        /// settings: the library waits for that, and a peer may never do it (Upstream.md).
        func hasRoom(for stream: HTTP2StreamID, among maximum: Int) -> Bool {
            let streams = handler.value.streams
            return streams.count < maximum || (streams.count == maximum && streams.contains(stream))
        }

        /// Whether a stream may have a channel. Its memory is many times that of its answer, so the networks around the
        /// peer have a limit for the streams of all their connections.
        func takesPlace(_ stream: HTTP2StreamID) -> Bool { handler.value.takeShare(for: stream) }

        /// Reports a stream that was refused or malformed.
        func refused() { handler.value.refuse() }

        func wroteFrame(_ frame: HTTP2Frame) {
            if case .goAway(_, let code, _) = frame.payload, code != .noError { handler.value.isGivenUp = true }
        }
    }
}

/// Refuses a stream so that its peer may retry (RFC 9113 §8.7).
final class RefusedStreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
