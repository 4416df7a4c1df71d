import Domain
import HTTPTypes
import Metrics
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The fast path of a connection of HTTP/2, between its frames and the multiplexer. Only a request that it passes on gets
/// a channel and a task. A stream has one request, so answers need no order.
///
/// The library below keeps the states of all streams, their windows and its limits of floods. ``GoingAwayHandler`` counts
/// all streams. The multiplexer does not know an answered stream, so its frames and events end here.
final class FastStreamsHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// What a connection's answers share with those of its streams.
    struct Shared {
        let unsent: UnsentBytes
        let progress: ConnectionProgress
        let watch: GoingAwayHandler.Watch
    }

    /// A request whose content is incomplete.
    private struct Held {
        let head: HTTP2Frame
        let request: FastRequest
        /// The length of the content by `Content-Length`; `nil` if the field is missing.
        let length: Int?
        let began: NIODeadline
        var content = ByteBuffer()
        /// The multiplexer gets this after the head.
        var created: NIOHTTP2StreamCreatedEvent?
        /// The last change of its window. The multiplexer gets this after the content, and then extends the window.
        var window: NIOHTTP2WindowUpdatedEvent?
    }

    /// An answer that has not been sent completely.
    private struct Answer {
        let began: NIODeadline
        /// Whether the stream has closed or the answer was discarded. After both the answer is forgotten.
        var isOver = false
    }

    private let fastPath: FastPath
    private let established: EstablishedConnection
    private let limits: RequestPolicy
    private let maximumStreams: Int
    private let shared: Shared
    private let timeout: TimeAmount
    private var held: [HTTP2StreamID: Held] = [:]
    private var answers: [HTTP2StreamID: Answer] = [:]
    /// The connection's inbound window as the multiplexer knows it.
    private var window: Int?
    private var guardian: Scheduled<Void>?

    init(
        _ fastPath: FastPath, _ established: EstablishedConnection, limits: RequestPolicy, maximumStreams: Int,
        shared: Shared
    ) {
        self.fastPath = fastPath
        self.established = established
        self.limits = limits
        self.maximumStreams = maximumStreams
        self.shared = shared
        timeout = .milliseconds(Int64(limits.answerTimeout * 1000))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        release()
    }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    private func release() {
        guardian?.cancel()
        (guardian, held, answers) = (nil, [:], [:])
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        // The peer resets an answered stream or opens its window: the library has processed that.
        guard answers[frame.streamID] == nil else { return }
        if let waiting = held[frame.streamID] {
            guard case .data(let part) = frame.payload, case .byteBuffer(let bytes) = part.data,
                waiting.content.readableBytes + bytes.readableBytes <= waiting.request.maximumContent
            else {
                passOn(frame.streamID, context)
                return context.fireChannelRead(data)
            }
            held[frame.streamID]?.content.writeImmutableBuffer(bytes)
            if part.endStream { end(frame.streamID, context) }
        } else if case .headers(let headers) = frame.payload, begin(frame, headers, context) {
            return
        } else {
            context.fireChannelRead(data)
        }
    }

    /// Answers a request without content, or waits for its content; `false` if the request is passed on.
    private func begin(
        _ frame: HTTP2Frame, _ headers: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext
    ) -> Bool {
        guard mayAnswer(frame.streamID, context), fits(headers.headers),
            let request = FastRequest(headers.headers), let block = RequestBlock(headers.headers)
        else { return false }
        let waiting = Held(head: frame, request: request, length: block.length, began: .now())
        if headers.endStream { return answer(waiting, context) }
        held[frame.streamID] = waiting
        return true
    }

    /// Whether a stream may be answered here. One beyond the limit is refused with its channel.
    private func mayAnswer(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) -> Bool {
        !shared.unsent.isFull && shared.watch.hasRoom(for: stream, among: maximumStreams) && context.channel.isWritable
    }

    /// Whether headers are certainly within the limits of ``FieldLimitsHandler``: the measure here is never smaller.
    private func fits(_ headers: HPACKHeaders) -> Bool {
        guard headers.count <= limits.maximumHeaderCount else { return false }
        var size = 0
        for (name, value, _) in headers { size += name.utf8.count + value.utf8.count }
        return size <= limits.maximumHeaders
    }

    private func end(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard let waiting = held[stream] else { return }
        if mayAnswer(stream, context), answer(waiting, context) {
            held[stream] = nil
        } else {
            passOn(stream, isComplete: true, context)
        }
    }

    /// Passes on what was read of a request, in the order of the library.
    private func passOn(_ stream: HTTP2StreamID, isComplete: Bool = false, _ context: ChannelHandlerContext) {
        guard let waiting = held.removeValue(forKey: stream) else { return }
        context.fireChannelRead(wrapInboundOut(waiting.head))
        if let created = waiting.created { context.fireUserInboundEventTriggered(created) }
        if isComplete || waiting.content.readableBytes > 0 {
            let content = HTTP2Frame.FramePayload.Data(data: .byteBuffer(waiting.content), endStream: isComplete)
            context.fireChannelRead(wrapInboundOut(HTTP2Frame(streamID: stream, payload: .data(content))))
        }
        if let window = waiting.window, !isComplete { context.fireUserInboundEventTriggered(window) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !held.isEmpty {
            for stream in held.keys.sorted() { passOn(stream, context) }
        }
        // The library has flushed before. What is unsent now waits for the peer.
        watch(context)
        context.fireChannelReadComplete()
    }

    // MARK: Events of streams

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let update as NIOHTTP2WindowUpdatedEvent:
            guard held[update.streamID] == nil else {
                held[update.streamID]?.window = update
                return
            }
            guard isNews(update) else { return }
        case let created as NIOHTTP2StreamCreatedEvent:
            guard answers[created.streamID] == nil else { return }
            guard held[created.streamID] == nil else {
                held[created.streamID]?.created = created
                return
            }
        case let closed as StreamClosedEvent:
            guard answers[closed.streamID] == nil else { return endAnswer(closed.streamID) }
            passOn(closed.streamID, context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Whether the multiplexer needs a change of a window. It keeps only windows of requests.
    private func isNews(_ update: NIOHTTP2WindowUpdatedEvent) -> Bool {
        guard update.streamID == .rootStream else { return answers[update.streamID] == nil }
        guard update.inboundWindowSize != window else { return false }
        window = update.inboundWindowSize
        return true
    }

    // MARK: Answers

    private func answer(_ waiting: Held, _ context: ChannelHandlerContext) -> Bool {
        // A body of another length is malformed. The stream's own handlers refuse it.
        guard waiting.length ?? waiting.content.readableBytes == waiting.content.readableBytes else { return false }
        let (request, stream) = (waiting.request, waiting.head.streamID)
        var body = context.channel.allocator.buffer(capacity: 512)
        guard let parties = fastPath.write(request, waiting.content, on: established.value, to: &body) else {
            return false
        }
        let id = established.requestIDs.next()
        let fields = Self.fields(request, id: id, length: body.readableBytes, date: fastPath.date.text)
        answers[stream] = Answer(began: context.eventLoop.now)
        write(.headers(.init(headers: fields)), on: stream, context)
        write(
            .data(.init(data: .byteBuffer(body), endStream: true)), on: stream, context,
            promise: follow(stream, body.readableBytes, context))
        fastPath.record(
            request, of: parties, id: id, elapsed: .nanoseconds((.now() - waiting.began).nanoseconds))
        return true
    }

    private func write(
        _ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID, _ context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>? = nil
    ) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: promise)
    }

    /// The fields of the routes' answer, in their order.
    private static func fields(_ request: FastRequest, id: String, length: Int, date: String) -> HPACKHeaders {
        var fields = HPACKHeaders()
        fields.reserveCapacity(6)
        fields.add(name: ":status", value: String(request.route.status.code))
        fields.add(name: "content-length", value: String(length))
        fields.add(name: "content-type", value: "application/json")
        fields.add(name: "cache-control", value: "no-store")
        fields.add(name: "x-request-id", value: id, indexing: .nonIndexable)
        fields.add(name: "date", value: date)
        return fields
    }

    /// A promise for the last byte of an answer.
    private func follow(
        _ stream: HTTP2StreamID, _ bytes: Int, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        shared.unsent.add(bytes)
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { [self] result in
            if case .success = result { answers[stream] = nil } else { endAnswer(stream) }
            shared.progress.move(bytes)
            shared.unsent.subtract(bytes)
        }
        return sent
    }

    private func endAnswer(_ stream: HTTP2StreamID) {
        if answers[stream]?.isOver == true { answers[stream] = nil } else { answers[stream]?.isOver = true }
    }

    // MARK: Pace

    /// Starts the time of unsent answers, as ``AnswerPaceHandler`` does for those of the routes. They are small, so each
    /// is sent in one piece.
    private func watch(_ context: ChannelHandlerContext) {
        guard guardian == nil, let oldest = answers.values.lazy.map({ $0.began }).min() else { return }
        guardian = context.eventLoop.assumeIsolated().scheduleTask(deadline: oldest + timeout) { [self] in
            guardian = nil
            endLate(context)
            watch(context)
        }
    }

    /// Resets streams whose peer does not take its answer, or ends a connection that is full of such answers.
    private func endLate(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        let late = answers.filter { $0.value.began + timeout <= now }
        guard !late.isEmpty else { return }
        for stream in late.keys { answers[stream] = nil }
        AnswersNotTaken.count(late.count)
        guard !shared.unsent.isFull, context.channel.isWritable else {
            return context.pipeline.fireUserInboundEventTriggered(AnswersNotTaken())
        }
        for (stream, answer) in late where !answer.isOver { write(.rstStream(.cancel), on: stream, context) }
        context.flush()
    }
}
