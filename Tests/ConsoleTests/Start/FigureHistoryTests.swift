import Foundation
import Testing

@testable import Console

@Suite("The figures of a day")
struct FigureHistoryTests {
    /// A full hour.
    static let start = Date(timeIntervalSince1970: 1_800_000_000 - 1_800_000_000.truncatingRemainder(dividingBy: 3600))

    static func figures(
        signIns: Int = 0, refusals: [String: Int] = [:], texts: Int = 0, review: Int = 0, spent: Int = 0,
        outbox: [String: ConsoleFigures.Waiting] = [:], ends: [(name: String, at: Date)] = []
    ) -> ConsoleFigures {
        ConsoleFigures(
            sessions: (7, start), live: 5, signIns: signIns, refusals: refusals, texts: texts, spent: spent,
            review: (review, 3), outbox: outbox, nodes: [], ends: ends)
    }

    @Test("are what was counted since the reading before, in the minute of a reading")
    func minutes() {
        let history = FigureHistory()
        #expect(history.latest == nil)
        // What was counted before the first reading has no time.
        history.record(Self.figures(signIns: 100, refusals: ["a": 5]), at: Self.start)
        history.record(Self.figures(signIns: 103, refusals: ["a": 5, "b": 1], review: 4), at: Self.start + 15)
        history.record(
            Self.figures(signIns: 110, refusals: ["a": 6, "b": 1], texts: 2, review: 1), at: Self.start + 59)
        history.record(Self.figures(signIns: 111, refusals: ["a": 6, "b": 1], texts: 2), at: Self.start + 180)
        let slots = history.last(5, of: 1, until: Self.start + 200)
        #expect(slots.map(\.signIns) == [0, 10, 0, 0, 1] && slots.map(\.texts) == [0, 2, 0, 0, 0])
        #expect(slots[1].refusals == ["a": 1, "b": 1] && slots[1].review == 4 && slots[4].refusals.isEmpty)
        #expect(history.latest?.figures.signIns == 111)
    }

    @Test("are summed up in longer slots that begin at full ones, and a queue is not summed up")
    func quarters() {
        let history = FigureHistory()
        for minute in 0...120 {
            history.record(Self.figures(signIns: minute * 2, review: minute), at: Self.start + Double(minute) * 60)
        }
        let slots = history.last(4, of: 30, until: Self.start + 60 * 119 + 59)
        #expect(slots.map(\.signIns) == [58, 60, 60, 60] && slots.map(\.review) == [29, 59, 89, 119])
        #expect(slots.allSatisfy { $0.minute.isMultiple(of: 30) })
    }

    @Test("are kept for a day, whatever the clock does")
    func bounded() {
        let history = FigureHistory()
        for minute in 0..<3000 { history.record(Self.figures(signIns: minute), at: Self.start + Double(minute) * 60) }
        let all = history.last(3000, of: 1, until: Self.start + 60 * 2999)
        #expect(all.reduce(0) { $0 + $1.signIns } == 1440)
        // A clock that was set back adds to the last minute that is known.
        history.record(Self.figures(signIns: 3009), at: Self.start)
        #expect(history.last(1, of: 1, until: Self.start + 60 * 2999).map(\.signIns) == [11])
    }
}
