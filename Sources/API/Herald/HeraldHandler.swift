import Domain
import Herald
import Metrics
import NIOCore
import NIOExtras
import Operations

/// The frames of one connection, on its event loop: reads them while its limits permit, does what `HeraldState` says, and
/// sends what waits while the client takes it.
///
/// Nothing is read while a token is judged, while as many calls are under way as may be, or while the client owes the
/// reading of too much. So a connection holds a bounded amount, and a client that sends faster is slowed down by TCP.
final class HeraldHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// What came of a token.
    enum Authentication: Sendable {
        case holds(HoldSession.Held)
        case refused(HeraldError)
        /// It could not be judged, or the certificate is valid no more: the connection ends.
        case impossible
    }

    let operations: HeraldOperations
    let send: (HeraldConnection.Job) -> Void
    private let over: () -> Void
    private let activity: ConnectionActivity
    /// Makes what carries the answer of one call.
    private let makeCarrier: () -> ResponseCarrier
    private let maximumUnsent: Int
    var context: ChannelHandlerContext?
    var connection: ClientConnection?
    private let ticker: HeraldTicker
    private var clock: HeraldClock

    private var reader: FrameReader
    let output = HeraldOutput()
    var state: HeraldState
    var held: HoldSession.Held?
    var watch: WatchMessages.Watch?
    /// Whether a sync request is due on the push channels.
    var isPushDue = false
    /// The store could not be asked about the session: it is asked again a tick later, not at once.
    var isUnknown = false
    /// A token is judged, or a session for which memory does not suffice; no frame is acted on meanwhile.
    var isJudging = false
    /// The frame for which a session is judged.
    var judgedFrame: Frame?
    private var calls = HeraldCallQueue()
    var isClosing = false
    private var isStopping = false
    private var wantsRead = false

    init(
        limits: RequestPolicy, operations: HeraldOperations, activity: ConnectionActivity, ticker: HeraldTicker,
        makeCarrier: @escaping () -> ResponseCarrier,
        send: @escaping (HeraldConnection.Job) -> Void, over: @escaping () -> Void
    ) {
        (self.operations, self.send, self.over, self.activity) = (operations, send, over, activity)
        (self.ticker, self.makeCarrier) = (ticker, makeCarrier)
        maximumUnsent = limits.maximumUnsent
        clock = HeraldClock(limits, now: .now())
        reader = FrameReader(maximumFrame: limits.maximumBody + DataFrame.overhead)
        state = HeraldState(limits: .init(message: limits.maximumBody, unfinished: 2 * limits.maximumBody))
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        activity.begin()
        ticker.insert(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { release() }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isStopping = true
            proceed()
        case is GiveWay:
            if calls.isEmpty { context.close(promise: nil) }
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The peer is known: frames may be acted on.
    func begin(on connection: ClientConnection) {
        self.connection = connection
        proceed()
    }

    private func release() {
        ticker.remove(self)
        (context, connection) = (nil, nil)
        drop()
        (reader, judgedFrame) = (FrameReader(maximumFrame: 0), nil)
        isClosing = true
        over()
    }

    // MARK: Frames

    private var mayRead: Bool {
        connection != nil && !isClosing && !isStopping && !isJudging && !calls.isFull
            && output.owed <= maximumUnsent
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        guard !isClosing, let bytes = buffer.readBytes(length: buffer.readableBytes) else { return }
        reader.append(bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) { proceed() }

    func read(context: ChannelHandlerContext) {
        // What still comes at the end is read and let go: a connection that is closed over it is reset, and its last frame
        // might be lost.
        if mayRead || isClosing { context.read() } else { wantsRead = true }
    }

    /// Acts on frames while that is possible, sends what waits, and reads on.
    func proceed() {
        guard let context else { return }
        while mayRead, let frame = nextFrame() { receive(frame) }
        push()
        startCalls()
        output.send(context) { [self] in if wantsRead || isClosing { proceed() } }
        clock.note(partial: reader.count > 0 && mayRead)
        if isStopping, calls.isEmpty, !isJudging, !isClosing {
            isClosing = true
            clock.noteEnd()
        }
        if isClosing, output.isEmpty { context.close(promise: nil) }
        guard wantsRead, mayRead || isClosing else { return }
        wantsRead = false
        context.read()
    }

    private func nextFrame() -> Frame? {
        do throws(HeraldError) {
            if state.phase == .initial {
                guard let initial = try reader.initialFrame() else { return nil }
                output.begin(initial)
                state.begin()
                clock.noteFrame()
            }
            guard let frame = try reader.frame() else { return nil }
            clock.noteFrame()
            return frame
        } catch {
            perform(state.end(error))
            return nil
        }
    }

    private func receive(_ frame: Frame) {
        switch frame {
        case .keepalive, .authenticate, .response: return perform(state.receive(frame, at: clock.now))
        case .addChannel, .deleteChannel, .data: break
        }
        guard state.phase == .authenticated else { return perform(state.receive(frame, at: clock.now)) }
        guard let verdict = verdictFromMemory(for: frame) else { return }
        receive(frame, verdict)
    }

    func receive(_ frame: Frame, _ verdict: HoldSession.Verdict) {
        guard let verdict = verdict.ofHerald else {
            // A call's route refuses it; nothing else has an answer for a service that cannot judge.
            if case .data = frame { return perform(state.receive(frame, at: clock.now)) }
            return end("unavailable")
        }
        let actions = state.judge(verdict)
        perform(actions.isEmpty ? state.receive(frame, at: clock.now) : actions)
    }

    func perform(_ actions: [HeraldState.Action]) {
        for action in actions {
            switch action {
            case .respond(let error): output.write(.response(error))
            case .keepalive: output.write(.keepalive)
            case .authenticate(let token):
                isJudging = true
                send(.authenticate(String(decoding: token.prefix(Self.longestToken), as: UTF8.self)))
            case .startPush: startWatch()
            case .drop(let channel):
                output.drop(channel)
                calls.drop(channel)
                if state.channels.pushChannels.isEmpty { endWatch() }
            case .dropAll: drop()
            case .call(let message): calls.add(message)
            case .close: end("refused")
            }
        }
    }

    /// A token is never longer; what is cut off is no token, and is not looked for.
    private static let longestToken = 128

    /// Nobody acts on the connection any more.
    private func drop() {
        endWatch()
        output.dropAll()
        calls.dropAll()
        held = nil
    }

    func end(_ reason: String) {
        guard !isClosing else { return }
        isClosing = true
        clock.noteEnd()
        Counter(label: "herald_ends", dimensions: [("reason", reason)]).increment()
    }

    // MARK: Calls

    private func startCalls() {
        guard let held, !isClosing else { return }
        for running in calls.start(makeCarrier) {
            activity.work()
            send(.call(running, held))
        }
    }

    /// A call was carried out.
    func finish(_ call: ChannelTable.Message, _ outcome: HeraldCalls.Outcome) {
        let carrier = calls.end(call)
        defer { carrier?.close() }
        guard context != nil else { return }
        if calls.isEmpty { activity.rest() }
        clock.noteUse()
        if !isClosing, state.channels.isOpen(call.channel, call.instance) {
            switch outcome {
            case .answer(let bytes): output.write(bytes, on: call.channel, carrier?.take())
            case .none: break
            case .malformed: perform(state.end(.malformed))
            }
        }
        proceed()
    }

    // MARK: Sending

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        proceed()
        context.fireChannelWritabilityChanged()
    }

    /// Looks at the deadlines and the session.
    func tick() {
        guard let context else { return }
        let isIdle = mayRead && calls.isEmpty
        if let reason = clock.overdue(state, isReading: isIdle, output, isClosing: isClosing) {
            end(reason)
            return context.close(promise: nil)
        }
        isUnknown = false
        judge()
        // Most connections are at rest, and there are many.
        if isPushDue || isClosing || isStopping || reader.count > 0 || !output.isEmpty { proceed() }
    }
}
