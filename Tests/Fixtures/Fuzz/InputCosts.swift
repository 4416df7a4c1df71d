import Foundation
import Glibc

/// What inputs cost the thread that reads them: none may cost more than 20 times what is usual for its kind.
///
/// A cost is processor time, so the time in which other programs run is not in it. But they also slow down a thread
/// while it runs. So an input that seems to cost too much is read again, and the least of its costs counts. And it is
/// compared with the last inputs too, which were read on an equally busy machine. An input that is larger than usual
/// may cost as many times more, but no more than that.
package struct InputCosts {
    private static let most: Int64 = 20
    /// How often one input is read again at most.
    private static let repetitions = 100

    /// The figures of one kind, in nanoseconds of processor time.
    private struct Kind {
        var costs: [Int64] = []
        var sizes: [Int] = []
        /// Known once it is settled.
        var median: Int64?
        /// The median of the sizes in bytes, at least 1.
        var usualSize = 1
        var recent = Recent()
        var worst: Case?
    }

    /// The last costs of a kind, in no order.
    private struct Recent {
        private static let size = 1001
        private var costs: [Int64] = []
        private var next = 0

        mutating func note(_ cost: Int64) {
            guard costs.count == Self.size else { return costs.append(cost) }
            costs[next] = cost
            next = (next + 1) % Self.size
        }

        /// Their median; `nil` while there are too few.
        var median: Int64? { costs.count == Self.size ? costs.sorted()[Self.size / 2] : nil }
    }

    /// What an input cost, and what was usual then.
    private struct Case {
        var cost: Int64
        var usual: Int64
        var name = ""

        var times: Double { Double(cost) / Double(usual) }
        var isTooMuch: Bool { times > Double(InputCosts.most) }
    }

    private let clock: () -> Int64
    private var kinds: [String: Kind] = [:]

    /// - Parameter clock: nanoseconds of processor time; `nil` for those of this thread.
    package init(clock: (() -> Int64)? = nil) {
        self.clock = clock ?? { Self.processorTime }
    }

    /// An input cost too much.
    package struct TooCostly: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads an input. Until ``settle()`` its cost makes the median of its kind; afterwards it is compared with that.
    ///
    /// - Parameters:
    ///   - name: how the input is made again.
    ///   - size: its bytes, if the inputs of its kind differ much; 0 otherwise.
    ///   - read: carried out some more times where it seems to cost too much.
    package mutating func measure<Outcome>(
        _ kind: String, _ name: @autoclosure () -> String, size: Int = 0, _ read: () -> Outcome
    ) -> Outcome {
        let start = clock()
        let outcome = read()
        let whole = clock() - start
        guard let median = kinds[kind]?.median else {
            kinds[kind, default: Kind()].costs.append(whole)
            kinds[kind]?.sizes.append(size)
            return outcome
        }
        let times = max(1, Double(size) / Double(kinds[kind]?.usualSize ?? 1))
        let cost = Int64(Double(whole) / times)
        var found = Case(cost: cost, usual: median)
        if found.isTooMuch {
            found.usual = max(median, kinds[kind]?.recent.median ?? 0)
            repeated(&found, times, read)
        }
        kinds[kind]?.recent.note(cost)
        if found.times > kinds[kind]?.worst?.times ?? 0 {
            found.name = name()
            kinds[kind]?.worst = found
        }
        return outcome
    }

    /// Reads an input again until it does not cost too much, or often enough. The least cost remains.
    private func repeated<Outcome>(_ found: inout Case, _ times: Double, _ read: () -> Outcome) {
        for _ in 0..<Self.repetitions where found.isTooMuch {
            let start = clock()
            _ = read()
            found.cost = min(found.cost, Int64(Double(clock() - start) / times))
        }
    }

    /// The medians are known now.
    package mutating func settle() {
        for (name, kind) in kinds {
            let sorted = kind.costs.sorted()
            kinds[name]?.median = sorted.isEmpty ? nil : max(1, sorted[sorted.count / 2])
            kinds[name]?.costs = []
            let sizes = kind.sizes.sorted()
            kinds[name]?.usualSize = sizes.isEmpty ? 1 : max(1, sizes[sizes.count / 2])
            kinds[name]?.sizes = []
        }
    }

    /// - Throws: ``TooCostly`` that names the input which cost too much.
    package func requireBounded() throws {
        for (name, kind) in kinds {
            guard let worst = kind.worst, worst.isTooMuch else { continue }
            throw TooCostly(
                description: """
                    \(name) of \(worst.name): \(worst.cost) ns at least, read \(Self.repetitions + 1) times. That is \
                    more than \(Self.most) times the usual \(worst.usual) ns.
                    """)
        }
    }

    /// The median of each kind and how many times as much the costliest took.
    package var summary: String {
        let parts = kinds.sorted { $0.key < $1.key }.compactMap { name, kind -> String? in
            guard let median = kind.median else { return nil }
            return "\(name) "
                + String(format: "%.1f µs, at most %.1f times", Double(median) / 1000, kind.worst?.times ?? 0)
        }
        return parts.joined(separator: "; ")
    }

    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
