import Domain
import NIOCore
import Synchronization

/// Asks a connection that has no request, or waits for its peer for too long, to close for another.
struct GiveWay: Sendable {}

/// The activity of one connection of a listener. Its event loop writes it; any thread may read it.
final class ConnectionActivity: Sendable {
    let channel: any Channel
    private let listener: ListenerConnections?
    /// A `PeerActivity`.
    private let word: Atomic<UInt64>
    /// Whether it was asked to give way: it counts for nothing any more, and closes when it can.
    private let isAsked = Atomic<Bool>(false)

    init(_ channel: any Channel, of listener: ListenerConnections?) {
        self.channel = channel
        self.listener = listener
        word = Atomic(PeerActivity.handshaking(since: NIODeadline.now().uptimeNanoseconds).word)
    }

    /// For a connection that no listener counts.
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

    /// The handshake has ended.
    func begin() {
        show(.idle(since: NIODeadline.now().uptimeNanoseconds))
    }

    /// There is no request any more. Who was asked to give way closes; while others wait, so does who was served.
    func rest() {
        begin()
        if isAsked.load(ordering: .relaxed) || listener?.isWaitedFor() == true { giveWay() }
    }

    /// It counts as being at work until it has closed, or says that it cannot.
    func giveWay() {
        isAsked.store(true, ordering: .relaxed)
        work()
        channel.pipeline.fireUserInboundEventTriggered(GiveWay())
    }

    /// It cannot give way now. It closes once it has answered.
    func stay() {
        listener?.keep(channel)
    }
}

/// The requests of one connection of HTTP, as its listener sees them. Used on its event loop alone.
final class ConnectionProgress {
    private let activity: ConnectionActivity
    private var progress = RequestProgress(at: NIODeadline.now().uptimeNanoseconds)

    /// The handshake has ended.
    init(_ activity: ConnectionActivity) {
        self.activity = activity
        show()
    }

    private func show() { activity.show(progress.activity) }

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

    /// Whether it may close for another, which has asked for it. If not, it closes once it has answered.
    func givesWay() -> Bool {
        if progress.activity.rank(at: NIODeadline.now().uptimeNanoseconds) != nil { return true }
        show()
        activity.stay()
        return false
    }
}
