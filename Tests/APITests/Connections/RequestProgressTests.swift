import Testing

@testable import API

@Suite("The progress of a connection's requests")
struct RequestProgressTests {
    private static let second: UInt64 = 1_000_000_000
    private static let start = 100 * second

    private func isSlow(_ progress: RequestProgress, at now: UInt64) -> Bool { progress.activity.rank(at: now) != nil }

    @Test("is the peer's business until a request has ended and from when it is answered, and the service's between")
    func turns() {
        var progress = RequestProgress(at: 1)
        #expect(progress.activity == .idle(since: 1))
        progress.begin(at: 5)
        #expect(progress.activity == .waiting(since: 5))
        progress.work()
        #expect(progress.activity == .busy)
        progress.begin(at: 6)
        #expect(progress.activity == .busy, "another request's body is still to come")
        progress.wait(at: 7)
        progress.end(at: 8)
        #expect(progress.activity == .waiting(since: 7))
        progress.end(at: 9)
        progress.end(at: 10)
        #expect(progress.activity == .idle(since: 10))
    }

    @Test("of a peer that sends or takes 4 KiB a second never stands still; of one that gives a byte a second it does")
    func pace() {
        for (bytes, expected) in [(4096, false), (8192, false), (1, true), (1000, true)] {
            var progress = RequestProgress(at: Self.start)
            progress.begin(at: Self.start)
            var wasSlow = false
            for tick in 1...30 {
                let now = Self.start + UInt64(tick) * Self.second
                progress.move(bytes, at: now)
                wasSlow = wasSlow || isSlow(progress, at: now)
            }
            #expect(wasSlow == expected, "\(bytes) bytes a second")
        }
    }

    @Test("cannot be saved up: a lot of bytes count as progress until now")
    func burst() {
        var progress = RequestProgress(at: Self.start)
        progress.begin(at: Self.start)
        for bytes in [1 << 30, .max, -1] { progress.move(bytes, at: Self.start) }
        #expect(progress.activity == .waiting(since: Self.start))
        #expect(!isSlow(progress, at: Self.start + 2 * Self.second - 1))
        #expect(isSlow(progress, at: Self.start + 2 * Self.second))
    }

    @Test("fits into one word, but for the last two bits of the time")
    func words() {
        for time: UInt64 in [0, 4, Self.start, .max & ~3] {
            for activity: PeerActivity in [.busy, .handshaking(since: time), .idle(since: time), .waiting(since: time)]
            {
                #expect(PeerActivity(word: activity.word) == activity)
            }
        }
        #expect(PeerActivity(word: PeerActivity.idle(since: 7).word) == .idle(since: 4))
    }
}
