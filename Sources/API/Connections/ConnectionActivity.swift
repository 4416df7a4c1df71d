import Domain
import NIOCore
import Synchronization

/// The event that requests an idle connection, or one that waits too long for its peer, to close and make room.
struct GiveWay: Sendable {}

/// The activity of one connection of a listener. Its event loop writes it; any thread may read it.
final class ConnectionActivity: Sendable {
    let channel: any Channel
    private let listener: ListenerConnections?
    /// The `PeerActivity` as one word, which any thread may read.
    private let word: Atomic<UInt64>
    /// The peer's address as the key for limits; `nil` until it is known.
    private let sender = Mutex<String?>(nil)
    /// Whether it was requested to close and make room. Then it is no longer listed as idle, and closes when it can.
    private let isAsked = Atomic<Bool>(false)

    init(_ channel: any Channel, of listener: ListenerConnections?) {
        self.channel = channel
        self.listener = listener
        word = Atomic(PeerActivity.handshaking(since: NIODeadline.now().uptimeNanoseconds).word)
    }

    /// For a connection that no listener limits.
    convenience init(alone channel: any Channel) {
        self.init(channel, of: nil)
    }

    var value: PeerActivity { PeerActivity(word: word.load(ordering: .relaxed)) }

    func show(_ activity: PeerActivity) {
        word.store(activity.word, ordering: .relaxed)
    }

    func work() {
        show(.busy)
    }

    /// Records the peer's address, as the key for limits.
    func locate(_ address: String?) { sender.withLock { $0 = address } }

    /// Takes a share of the streams of the peer's networks; `false` if none is left.
    func takeShare() -> Bool { listener?.takeShare(at: sender.withLock { $0 }) ?? true }

    func returnShare() { listener?.shares.give(at: sender.withLock { $0 }) }

    /// Records the end of the handshake.
    func begin() {
        show(.idle(since: NIODeadline.now().uptimeNanoseconds))
    }

    /// Records that there is no request. Closes the connection if it was requested to close, or if new connections
    /// wait.
    func rest() {
        begin()
        if isAsked.load(ordering: .relaxed) || listener?.isWaitedFor() == true { giveWay() }
    }

    /// Requests the connection to close. It is recorded as active until it has closed or reports that it cannot.
    func giveWay() {
        isAsked.store(true, ordering: .relaxed)
        work()
        channel.pipeline.fireUserInboundEventTriggered(GiveWay())
    }

    /// Records that it cannot close now. It closes after its answer.
    func stay() {
        listener?.keep(channel)
    }
}

/// The requests of one HTTP connection, as its listener sees them. Use only on its event loop.
final class ConnectionProgress {
    private let activity: ConnectionActivity
    private var progress = RequestProgress(at: NIODeadline.now().uptimeNanoseconds)

    /// Also records the end of the handshake.
    init(_ activity: ConnectionActivity) {
        self.activity = activity
        show()
    }

    private func show() { activity.show(progress.activity) }

    func takeShare() -> Bool { activity.takeShare() }

    func returnShare() { activity.returnShare() }

    func begin() {
        progress.begin(at: NIODeadline.now().uptimeNanoseconds)
        show()
    }

    func end() {
        progress.end(at: NIODeadline.now().uptimeNanoseconds)
        show()
        if case .idle = progress.activity { activity.rest() }
    }

    func work() {
        progress.work()
        show()
    }

    func wait() {
        progress.wait(at: NIODeadline.now().uptimeNanoseconds)
        show()
    }

    func move(_ bytes: Int) {
        progress.move(bytes, at: NIODeadline.now().uptimeNanoseconds)
        show()
    }

    /// Whether a connection that must make room may close now. If not, it closes after its answer.
    func givesWay() -> Bool {
        if progress.activity.rank(at: NIODeadline.now().uptimeNanoseconds) != nil { return true }
        show()
        activity.stay()
        return false
    }
}
