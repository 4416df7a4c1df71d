import Foundation
import Synchronization

/// The figures of the last day by minute, in this node's memory. Pages read them, so no request counts anything.
package final class FigureHistory: Sendable {
    /// What happened in some minutes.
    struct Slot: Sendable, Equatable {
        /// The beginning, in minutes since 1970.
        var minute: Int
        var signIns = 0
        var refusals: [String: Int] = [:]
        var texts = 0
        /// The longest queue of cards in review.
        var review = 0

        var allRefusals: Int { refusals.values.reduce(0, +) }

        mutating func add(_ other: Slot) {
            signIns += other.signIns
            texts += other.texts
            review = max(review, other.review)
            refusals.merge(other.refusals, uniquingKeysWith: +)
        }
    }

    private struct State {
        var latest: (figures: ConsoleFigures, at: Date)?
        /// The minutes that were seen, oldest first.
        var slots: [Slot] = []
    }

    private let state = Mutex(State())
    /// The minutes of a day.
    private static let kept = 1440

    package init() {}

    /// The figures of the last reading; `nil` before the first.
    var latest: (figures: ConsoleFigures, at: Date)? { state.withLock { $0.latest } }

    /// Records a reading. What was counted since the one before happened in the minute of this one.
    func record(_ figures: ConsoleFigures, at now: Date) {
        let minute = Self.minute(of: now)
        state.withLock { state in
            var slot = Slot(minute: minute, review: figures.review.count)
            if let before = state.latest?.figures {
                slot.signIns = max(0, figures.signIns - before.signIns)
                slot.texts = max(0, figures.texts - before.texts)
                slot.refusals = figures.refusals.reduce(into: [:]) { refusals, refusal in
                    let count = refusal.value - (before.refusals[refusal.key] ?? 0)
                    if count > 0 { refusals[refusal.key] = count }
                }
            }
            state.latest = (figures, now)
            if let last = state.slots.last, last.minute >= minute {
                state.slots[state.slots.count - 1].add(slot)
            } else {
                state.slots.append(slot)
                if state.slots.count > Self.kept { state.slots.removeFirst() }
            }
        }
    }

    /// The latest minutes in slots of some minutes each, oldest first. A slot of which nothing is known is empty.
    ///
    /// - Parameter count: the number of slots.
    func last(_ count: Int, of length: Int, until now: Date) -> [Slot] {
        let end = Self.minute(of: now) / length * length + length
        let start = end - count * length
        var slots = (0..<count).map { Slot(minute: start + $0 * length) }
        for slot in state.withLock({ $0.slots }) where slot.minute >= start && slot.minute < end {
            slots[(slot.minute - start) / length].add(slot)
        }
        return slots
    }

    private static func minute(of time: Date) -> Int { Int((time.timeIntervalSince1970 / 60).rounded(.down)) }
}

package extension FigureHistory {
    /// Reads the figures every 15 s until the task is cancelled. Those that cannot be read leave the former ones.
    func run(now: @Sendable () -> Date, read: @Sendable () async -> ConsoleFigures?) async {
        while !Task.isCancelled {
            if let figures = await read() { record(figures, at: now()) }
            try? await Task.sleep(for: .seconds(15))
        }
    }
}
