import Testing

@testable import Operations

/// Overlapping heartbeats over simulated times.
@Suite("Heartbeats")
struct HeartbeatsTests {
    /// A node beside a store whose commits and readings take their time.
    private struct Simulation {
        let start = ContinuousClock.now
        var beats: Heartbeats<Int>
        /// What a commit takes, by when it begins.
        let latency: (Duration) -> Duration
        /// What a reading takes, and how often one comes by itself.
        let reading = Duration.milliseconds(20)
        let pollInterval = Duration.milliseconds(100)
        private var underWay: [(end: Duration, beat: Heartbeats<Int>.Beat, number: Int)] = []
        private var committed: Set<Int> = []
        private var readingEnd: Duration?
        private var seen: Set<Int> = []
        private var lastReadingAt = Duration.zero
        private var number = 0
        var most = 0
        var begun: Int { number }

        init(_ latency: @escaping (Duration) -> Duration) {
            self.latency = latency
            beats = Heartbeats(at: start, maximumAge: .seconds(1), most: 8)
        }

        /// One millisecond at a time; the oldest view from a moment on.
        mutating func run(from: Duration, to end: Duration) -> Duration {
            var (now, oldest) = (Duration.zero, Duration.zero)
            while now < end {
                step(at: now)
                if now >= from { oldest = max(oldest, start + now - beats.freshAt) }
                now += .milliseconds(1)
            }
            return oldest
        }

        private mutating func step(at now: Duration) {
            for one in underWay where one.end <= now {
                committed.insert(one.number)
                beats.end(one.beat, one.number)
            }
            underWay.removeAll { $0.end <= now }
            if let readingEnd, readingEnd <= now {
                let seen = seen
                beats.read { seen.contains($0) }
                self.readingEnd = nil
            }
            let isDue = now - lastReadingAt >= pollInterval || beats.wantsReading(at: start + now)
            if readingEnd == nil, isDue {
                // It shows what was committed when it came to the server.
                (seen, readingEnd, lastReadingAt) = (committed, now + reading, now)
            }
            if let beat = beats.begin(at: start + now) {
                number += 1
                underWay.append((now + latency(now), beat, number))
            }
            most = max(most, underWay.count)
        }
    }

    @Test(
        "A view is never older than a second while commits take up to 0.8 s, with eight under way",
        arguments: [1, 50, 300, 480, 650, 800])
    func steady(milliseconds: Int) {
        var simulation = Simulation { _ in .milliseconds(milliseconds) }
        let oldest = simulation.run(from: .seconds(1), to: .seconds(20))
        #expect(oldest < .seconds(1), "\(oldest)")
        #expect(simulation.most <= 8)
        #expect(simulation.begun <= 161)
    }

    @Test("Nor when commits become slow of a sudden, now and then, or overtake one another")
    func sudden() {
        let latencies: [(Duration) -> Duration] = [
            { $0 < .seconds(5) ? .milliseconds(2) : .milliseconds(800) },
            { Int($0 / .milliseconds(700)) % 2 == 0 ? .milliseconds(5) : .milliseconds(800) },
            { Int($0 / .milliseconds(125)) % 2 == 0 ? .milliseconds(800) : .milliseconds(40) },
        ]
        for latency in latencies {
            var simulation = Simulation(latency)
            let oldest = simulation.run(from: .seconds(1), to: .seconds(20))
            #expect(oldest < .seconds(1), "\(oldest)")
        }
    }

    @Test("A view is old while commits take longer than a view may be old, and young again soon after")
    func slow() {
        var simulation = Simulation { $0 < .seconds(5) ? .milliseconds(2500) : .milliseconds(5) }
        let during = simulation.run(from: .seconds(4), to: .seconds(5))
        #expect(during > .seconds(1))
        var other = Simulation { $0 < .seconds(5) ? .milliseconds(2500) : .milliseconds(5) }
        let after = other.run(from: .milliseconds(7700), to: .seconds(20))
        #expect(after < .milliseconds(400))
    }

    @Test("Only a commit whose outcome is known, of the same server, and that a reading shows makes it young")
    func proof() throws {
        let start = ContinuousClock.now
        var beats = Heartbeats<Int>(at: start, maximumAge: .seconds(1), most: 8)
        func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }
        func begin(_ milliseconds: Int) throws -> Heartbeats<Int>.Beat {
            let beat = beats.begin(at: at(milliseconds))
            return try #require(beat)
        }
        let first = try begin(0)
        let early = beats.begin(at: at(100))
        #expect(early == nil)
        let second = try begin(200)
        let third = try begin(400)
        beats.end(first, nil)
        beats.end(third, 3)
        beats.end(second, 2)
        beats.read { _ in false }
        #expect(beats.freshAt == start)
        beats.read { $0 == 2 }
        #expect(beats.freshAt == at(200))
        let last = try begin(600)
        beats.forget()
        beats.end(last, 4)
        beats.read { _ in true }
        #expect(beats.freshAt == at(200))
        let other = try begin(800)
        beats.end(other, 5)
        #expect(beats.wantsReading(at: at(900)))
        beats.read { _ in true }
        #expect(beats.freshAt == at(800) && !beats.wantsReading(at: at(900)))
    }

    @Test("No more than a few are under way, however long they hang")
    func bounded() {
        let start = ContinuousClock.now
        var beats = Heartbeats<Int>(at: start, maximumAge: .seconds(1), most: 3)
        var begun: [Heartbeats<Int>.Beat] = []
        for second in 0..<50 {
            if let beat = beats.begin(at: start + .seconds(second)) { begun.append(beat) }
        }
        #expect(begun.count == 3)
        for beat in begun { beats.end(beat, nil) }
        let next = beats.begin(at: start + .seconds(60))
        #expect(next != nil)
    }
}
