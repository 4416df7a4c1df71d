import NIOCore
import NIOHTTP2

/// Asks an HTTP/2 connection to end once its open streams have: an answer on one of them was its last.
struct LastAnswer: Sendable {}

/// Ends an HTTP/2 connection in order (RFC 9113 §6.8): when it is idle, when the listener stops, after a last answer.
///
/// The peer is told first that no more streams are wanted, together with a ping; streams that it opened before it knew are
/// served. Its answer to the ping shows that it knows: the last stream is named, and the connection ends with the last
/// that is open. A peer that does not answer the ping is not waited for. Streams have deadlines of their own.
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
    private var timer: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    /// Whether the library has given the connection up, in its own frame.
    private var isGivenUp = false
    private var refused = 0
    /// Streams beyond the number of those that are allowed, and malformed ones, over the life of a connection.
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
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .ping(let answer, ack: true) = unwrapInboundIn(data).payload, case .told(let ping) = stage,
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
        case is ChannelShouldQuiesceEvent, is LastAnswer: leave()
        case is GiveWay:
            guard progress.givesWay() else { break }
            // Without streams, what the peer sends now was seen by nobody: it may send it again elsewhere.
            end(streams.isEmpty ? .noError : .enhanceYourCalm)
        case is AnswersNotTaken: end(.enhanceYourCalm)
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of one stream ends that stream, and was said there.
        guard error is any NIOHTTP2Error, !isGivenUp else { return context.close(promise: nil) }
    }

    private func leave() {
        guard case .open = stage, let context else { return }
        let ping = HTTP2PingData(withInteger: .random(in: .min ... .max))
        stage = .told(ping)
        write(.goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil))
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

    /// Without streams the connection is idle, for so long.
    private func waitForStreams() {
        guard case .open = stage, let context else { return }
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer?.cancel()
        timer = context.eventLoop.scheduleTask(in: idleTimeout) { this.value.leave() }
    }

    private func opened(_ stream: HTTP2StreamID) {
        if streams.isEmpty, case .open = stage {
            timer?.cancel()
            timer = nil
        }
        if streams.insert(stream).inserted { progress.begin() }
        last = max(last, stream)
    }

    private func closed(_ stream: HTTP2StreamID) {
        guard streams.remove(stream) != nil else { return }
        progress.end()
        guard streams.isEmpty else { return }
        waitForStreams()
        closeIfDone()
    }

    /// A stream too many came, or a malformed one.
    private func refuse() {
        refused += 1
        if refused == Self.patience { end(.enhanceYourCalm) }
    }

    /// A tick later: the end of the last stream is written, but not yet flushed.
    private func closeIfDone() {
        guard case .known = stage, streams.isEmpty, let context else { return }
        context.eventLoop.assumeIsolated().execute { [self] in
            guard streams.isEmpty else { return }
            context.close(promise: nil)
        }
    }

    /// What the library tells of streams and frames, on the connection's event loop.
    struct Watch: NIOHTTP2StreamDelegate, NIOHTTP2FrameDelegate {
        private let handler: NIOLoopBound<GoingAwayHandler>

        init(_ handler: GoingAwayHandler, on eventLoop: any EventLoop) {
            self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        }

        /// Whether one stream more is taken. A peer is held to it before it has acknowledged our settings, too: the
        /// library waits for that, and a peer may never do it (Upstream.md).
        func takesStream(_ maximum: Int) -> Bool {
            guard handler.value.streams.count >= maximum else { return true }
            refused()
            return false
        }

        /// A stream was refused.
        func refused() { handler.value.refuse() }

        func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { handler.value.opened(id) }

        func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { handler.value.closed(id) }

        func wroteFrame(_ frame: HTTP2Frame) {
            if case .goAway(_, let code, _) = frame.payload, code != .noError { handler.value.isGivenUp = true }
        }
    }
}

/// Refuses a stream, so that its peer may ask again (RFC 9113 §8.7).
final class RefusedStreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
