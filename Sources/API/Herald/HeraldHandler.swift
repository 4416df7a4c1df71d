import Domain
import Herald
import Metrics
import NIOCore
import NIOExtras
import Operations

/// Handles the frames of one connection on its event loop. Reads them while its limits permit, does what `HeraldState`
/// decides, and sends waiting frames while the client reads.
///
/// Reading pauses while a token is verified, while the maximum number of calls runs, or while too many bytes are
/// unsent. So a connection needs bounded memory, and TCP slows down a client that sends faster.
final class HeraldHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    enum Authentication: Sendable {
        case holds(Service.HeldSession)
        case refused(HeraldError)
        /// The token could not be verified, or the certificate is no longer valid. The connection ends.
        case impossible
    }

    let service: Service
    let send: (HeraldConnection.Job) -> Void
    private let over: () -> Void
    private let activity: ConnectionActivity
    private let makeCarrier: () -> ResponseCarrier
    private let maximumUnsent: Int
    var context: ChannelHandlerContext?
    var connection: ClientConnection?
    private let ticker: HeraldTicker
    private var clock: HeraldClock

    private var reader: FrameReader
    let output = HeraldOutput()
    var state: HeraldState
    var held: Service.HeldSession?
    var watch: Service.MessageWatch?
    /// Whether a sync request is due on the push channels.
    var isPushDue = false
    /// Whether the store could not be queried about the session. It is queried again a tick later.
    var isUnknown = false
    /// Whether a token or a session is being verified. Meanwhile no frame is handled.
    var isJudging = false
    /// The frame that waits for the session's verification.
    var judgedFrame: Frame?
    private var calls = HeraldCallQueue()
    var isClosing = false
    private var isStopping = false
    private var wantsRead = false

    init(
        limits: RequestPolicy, service: Service, activity: ConnectionActivity, ticker: HeraldTicker,
        makeCarrier: @escaping () -> ResponseCarrier,
        send: @escaping (HeraldConnection.Job) -> Void, over: @escaping () -> Void
    ) {
        (self.service, self.send, self.over, self.activity) = (service, send, over, activity)
        (self.ticker, self.makeCarrier) = (ticker, makeCarrier)
        maximumUnsent = limits.maximumUnsent
        clock = HeraldClock(limits, now: .now())
        let message = max(limits.maximumBody, MessageBody.largestBinary)
        reader = FrameReader(maximumFrame: message + DataFrame.overhead)
        state = HeraldState(limits: .init(message: message, unfinished: 2 * message))
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

    /// Begins to handle frames: the peer is known.
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
        // At the end, input is read and discarded: closing over unread bytes resets the connection, and may destroy the
        // last frame.
        if mayRead || isClosing { context.read() } else { wantsRead = true }
    }

    /// Handles frames while that is possible, sends waiting ones, and reads on.
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

    func receive(_ frame: Frame, _ verdict: Service.HeldSession.Verdict) {
        guard let verdict = verdict.ofHerald else {
            // The route refuses a call. For other frames there is no answer while the session cannot be verified.
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

    /// The longest token that is looked up. Longer tokens are not valid, so a token that was cut off is never looked
    /// up.
    private static let longestToken = 128

    /// Detaches the session from the connection.
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

    /// Sends the answer of a finished call.
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

    func tick() {
        guard let context else { return }
        let isIdle = mayRead && calls.isEmpty
        if let reason = clock.overdue(state, isReading: isIdle, output, isClosing: isClosing) {
            end(reason)
            return context.close(promise: nil)
        }
        isUnknown = false
        judge()
        // Most connections are idle, and there are many.
        if isPushDue || isClosing || isStopping || reader.count > 0 || !output.isEmpty { proceed() }
    }
}
