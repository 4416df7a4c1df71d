import Domain
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Ends a connection or stream whose peer reads an answer too slowly. It also stops work on the requests of a
/// connection with too many unsent bytes.
///
/// Without it a peer with a window of zero could keep each answer in memory (RFC 9113 §10.5). Progress alone is not
/// enough, since one byte a minute is progress. So an answer may take `answerTimeout` and a second for each 4 KiB sent.
///
/// Every answer is written through this handler. It ends the answer's claim when the last byte has been sent or the
/// peer is gone.
final class AnswerPaceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Bytes that are passed on at a time, so that progress is visible. A frame of HTTP/2 is as large.
    static let piece = 16_384
    private let timeout: TimeAmount
    private let unsent: UnsentBytes
    private let progress: ConnectionProgress
    /// Whether the channel is a stream of a connection. A stream reports itself when a request begins and ends.
    private let isStream: Bool
    private let carrier: ResponseCarrier
    /// The claims of answers whose end was not passed on, in order; `nil` for an answer without a claim.
    private var claims = CircularBuffer<ResponseClaim?>(initialCapacity: 2)
    /// The claims of answers whose end was passed on but not sent yet.
    private var leaving: [ResponseAccounts.Budget.ClaimID: ResponseClaim] = [:]
    private var began: NIODeadline?
    private var taken = 0
    private var guardian: Scheduled<Void>?
    /// The number of requests whose answer has not been sent.
    private var unanswered = 0
    /// The number of answers that began and have not been sent.
    private var unfinished = 0
    /// The number of completely received requests, minus the number of completed answers.
    private var due = 0
    private var isOurTurn = false
    /// This channel's bytes in ``unsent``.
    private var owed = 0
    /// The bytes of ``owed`` that were written after the last promise was requested.
    private var unpromised = 0
    /// Parts that wait until the peer reads.
    private var waiting = CircularBuffer<(part: HTTPResponsePart, promise: EventLoopPromise<Void>?)>(initialCapacity: 2)
    private var isPassingOn = false
    private var held: [NIOAny] = []
    private var isHolding = false
    private var wantsRead = false
    private var context: ChannelHandlerContext?

    init(
        timeout: Double, unsent: UnsentBytes, progress: ConnectionProgress, isStream: Bool, carrier: ResponseCarrier
    ) {
        self.timeout = .milliseconds(Int64(timeout * 1000))
        self.unsent = unsent
        (self.progress, self.isStream, self.carrier) = (progress, isStream, carrier)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        forget()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        forget()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The connection closes after its streams have ended. Streams do not close with it.
        if isStream, event is ChannelShouldQuiesceEvent { return }
        if event is GiveWay, progress.givesWay() { return context.close(promise: nil) }
        // A stream's input also ends with a complete request.
        if !isStream, case ChannelEvent.inputClosed = event { carrier.leave() }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isHolding { return held.append(data) }
        if case .head = unwrapInboundIn(data), isStream, unsent.isFull { return hold(data, context) }
        passOn(data, context)
    }

    private func passOn(_ data: NIOAny, _ context: ChannelHandlerContext) {
        switch unwrapInboundIn(data) {
        case .head: beginRequest()
        case .body(let bytes): progress.move(bytes.readableBytes)
        case .end:
            due += 1
            updateTurn()
        }
        context.fireChannelRead(data)
    }

    private func beginRequest() {
        unanswered += 1
        if !isStream { progress.begin() }
    }

    /// Records whether the service is at work, or the peer must send the rest of a request or read an answer.
    private func updateTurn() {
        let isOurs = due > 0 && waiting.isEmpty
        guard isOurs != isOurTurn else { return }
        isOurTurn = isOurs
        if isOurs { progress.work() } else { progress.wait() }
    }

    func read(context: ChannelHandlerContext) {
        if isHolding { wantsRead = true } else { context.read() }
    }

    private func hold(_ data: NIOAny, _ context: ChannelHandlerContext) {
        isHolding = true
        held.append(data)
        unsent.wait(ObjectIdentifier(self)) { [self] in release() }
    }

    /// Passes on the delayed request: unsent bytes are below the limit again.
    private func release() {
        guard isHolding, let context else { return }
        let parts = held
        (isHolding, held) = (false, [])
        for part in parts { passOn(part, context) }
        context.fireChannelReadComplete()
        if wantsRead { context.read() }
        wantsRead = false
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        switch part {
        case .head(let head):
            // Informational answers precede the final one.
            if head.status.kind != .informational {
                unfinished += 1
                if began == nil { (began, taken) = (context.eventLoop.now, 0) }
                claims.append(carrier.take())
            }
        case .body(let body):
            unsent.add(body.readableBytes)
            owed += body.readableBytes
        case .end: due -= 1
        }
        waiting.append((part, promise))
        passOn(context) { context.channel.isWritable }
    }

    /// Passes on waiting parts while the peer reads. Anything encrypted earlier would stay in memory.
    private func passOn(_ context: ChannelHandlerContext, while mayPass: () -> Bool) {
        // A flush may call this function again at once.
        guard !isPassingOn else { return }
        isPassingOn = true
        while mayPass(), let (part, promise) = waiting.popFirst() {
            switch part {
            case .head: context.write(wrapOutboundOut(part), promise: promise)
            case .body(var body):
                while body.readableBytes > Self.piece, mayPass(), let piece = body.readSlice(length: Self.piece) {
                    write(piece, context, nil)
                    // Only flushed bytes are reported as not sent.
                    context.flush()
                }
                if body.readableBytes > Self.piece {
                    waiting.prepend((.body(body), promise))
                } else {
                    write(body, context, promise)
                }
            case .end:
                let left = promise ?? context.eventLoop.makePromise(of: Void.self)
                let claim = claims.popFirst() ?? nil
                if let claim { leaving[claim.id] = claim }
                follow(left, ends: true, context, claim)
                context.write(wrapOutboundOut(part), promise: left)
            }
        }
        isPassingOn = false
        updateTurn()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !waiting.isEmpty {
            passOn(context) { context.channel.isWritable }
            context.flush()
        }
        context.fireChannelWritabilityChanged()
    }

    /// Sends waiting parts before the end, which has its own deadline.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if !waiting.isEmpty, mode != .input {
            passOn(context) { true }
            context.flush()
        }
        context.close(mode: mode, promise: promise)
    }

    private func write(_ piece: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        unpromised += piece.readableBytes
        var promise = promise
        if unpromised >= Self.piece {
            let left = promise ?? context.eventLoop.makePromise(of: Void.self)
            follow(left, ends: false, context)
            promise = left
        }
        context.write(wrapOutboundOut(.body(piece)), promise: promise)
    }

    private func follow(
        _ promise: EventLoopPromise<Void>, ends: Bool, _ context: ChannelHandlerContext, _ claim: ResponseClaim? = nil
    ) {
        let bytes = unpromised
        unpromised = 0
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            taken += bytes
            settle(bytes)
            if let claim { leaving.removeValue(forKey: claim.id)?.end() }
            progress.move(bytes)
            guard ends else { return }
            unfinished = max(0, unfinished - 1)
            began = unfinished == 0 ? nil : context.eventLoop.now
            guard unanswered > 0 else { return }
            unanswered -= 1
            if !isStream { progress.end() }
        }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        watchAnswers()
    }

    /// Watches flushed answers that have not been sent yet.
    func watchAnswers() {
        if let context, let began, guardian == nil { watch(context, until: began + timeout) }
    }

    /// Whether the connection has so many unsent bytes that no more requests are worked on.
    var isFull: Bool { unsent.isFull }

    /// Counts an answer that bypasses this handler. The returned promise must complete with its last byte.
    func follow(ahead bytes: Int) -> EventLoopPromise<Void>? {
        guard let context else { return nil }
        beginRequest()
        unfinished += 1
        if began == nil { (began, taken) = (context.eventLoop.now, 0) }
        unsent.add(bytes)
        owed += bytes
        unpromised += bytes
        let left = context.eventLoop.makePromise(of: Void.self)
        follow(left, ends: true, context)
        return left
    }

    private func watch(_ context: ChannelHandlerContext, until deadline: NIODeadline) {
        guardian = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            guardian = nil
            guard let began else { return }
            let allowed = began + timeout + .seconds(Int64(taken / RequestProgress.pace))
            guard allowed <= context.eventLoop.now else { return watch(context, until: allowed) }
            AnswersNotTaken.count()
            if let connection = context.channel.parent, isStream, unsent.isFull || !connection.isWritable {
                connection.pipeline.fireUserInboundEventTriggered(AnswersNotTaken())
            } else {
                context.close(promise: nil)
            }
        }
    }

    private func settle(_ bytes: Int) {
        let bytes = min(bytes, owed)
        owed -= bytes
        unsent.subtract(bytes)
    }

    private func forget() {
        guardian?.cancel()
        began = nil
        if isHolding { unsent.forget(ObjectIdentifier(self)) }
        (isHolding, held) = (false, [])
        settle(owed)
        carrier.close()
        for claim in claims { claim?.end() }
        for claim in leaving.values { claim.end() }
        (claims, leaving) = ([], [:])
        due = 0
        updateTurn()
        while let (_, promise) = waiting.popFirst() { promise?.fail(ChannelError.ioOnClosedChannel) }
    }
}
