import Domain
import Encoding
import Herald
import NIOCore

/// The deadlines of one connection, checked twice a second.
struct HeraldClock {
    /// How often deadlines and session are checked: a connection closes within a second of its session's end.
    static let tick = TimeAmount.milliseconds(500)
    /// The time from the end of the handshake to the complete initial frame.
    static let initialTimeout = TimeAmount.seconds(5)
    /// How long the last frames of a connection may take to be sent.
    private static let farewell = TimeAmount.seconds(5)

    private let silence: TimeAmount
    private let message: TimeAmount
    /// The time for the peer to read a piece of output.
    private let answer: TimeAmount
    private let began: NIODeadline
    private var lastUse: NIODeadline
    /// When the current incomplete frame began.
    private var partial: NIODeadline?
    private var ending: NIODeadline?

    init(_ limits: RequestPolicy, now: NIODeadline) {
        let time = { (seconds: Double) in TimeAmount.milliseconds(Int64(saturating: seconds * 1000)) }
        (silence, message) = (time(limits.idleTimeout), time(limits.requestTimeout))
        answer = time(limits.answerTimeout) + .seconds(Int64(HeraldOutput.piece / RequestProgress.pace))
        (began, lastUse) = (now, now)
    }

    /// The time in nanoseconds, for the beginnings of messages.
    var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    mutating func noteFrame() { (lastUse, partial) = (.now(), nil) }

    mutating func noteUse() { lastUse = .now() }

    mutating func note(partial isPartial: Bool) {
        if !isPartial { partial = nil } else if partial == nil { partial = .now() }
    }

    mutating func noteEnd() { ending = .now() }

    /// Why the connection must end now; `nil` if it need not.
    ///
    /// - Parameter isReading: whether the service is reading. If not, the client's silence is not measured.
    func overdue(_ state: HeraldState, isReading: Bool, _ output: HeraldOutput, isClosing: Bool) -> String? {
        let now = NIODeadline.now()
        if state.phase == .initial, began + Self.initialTimeout < now { return "initial" }
        if let ending, isClosing, ending + Self.farewell < now { return "not_taken" }
        if let began = output.began, began + answer < now { return "not_taken" }
        guard isReading else { return nil }
        if let partial, partial + message < now { return "unfinished" }
        if let oldest = state.channels.oldestUnfinished, NIODeadline.uptimeNanoseconds(oldest) + message < now {
            return "unfinished"
        }
        return lastUse + silence < now ? "silence" : nil
    }
}
