import Foundation
import Glibc

/// What inputs cost the thread that reads them: none may cost more than 20 times the median of its kind.
package struct InputCosts {
    private static let most: Int64 = 20

    /// The figures of one kind, in nanoseconds of processor time.
    private struct Kind {
        var costs: [Int64] = []
        /// Known once it is settled.
        var median: Int64?
        var worst: Int64 = 0
        var worstInput = ""
    }

    private var kinds: [String: Kind] = [:]

    package init() {}

    /// An input cost too much.
    package struct TooCostly: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads an input. Until ``settle()`` its cost makes the median of its kind; afterwards it is compared with that.
    ///
    /// - Parameters:
    ///   - name: how the input is made again.
    ///   - read: carried out some more times where it seems to cost too much.
    package mutating func measure<Outcome>(
        _ kind: String, _ name: @autoclosure () -> String, _ read: () -> Outcome
    ) -> Outcome {
        var start = Self.processorTime
        let outcome = read()
        var cost = Self.processorTime - start
        guard let median = kinds[kind]?.median else {
            kinds[kind, default: Kind()].costs.append(cost)
            return outcome
        }
        // What the kernel did for the thread at that moment is not in the least of some turns.
        for _ in 0..<5 where cost > Self.most * median {
            start = Self.processorTime
            _ = read()
            cost = min(cost, Self.processorTime - start)
        }
        if cost > kinds[kind]?.worst ?? 0 {
            kinds[kind]?.worst = cost
            kinds[kind]?.worstInput = name()
        }
        return outcome
    }

    /// The medians are known now.
    package mutating func settle() {
        for (name, kind) in kinds {
            let sorted = kind.costs.sorted()
            kinds[name]?.median = sorted.isEmpty ? nil : max(1, sorted[sorted.count / 2])
            kinds[name]?.costs = []
        }
    }

    /// - Throws: ``TooCostly`` that names the input which cost too much.
    package func requireBounded() throws {
        for (name, kind) in kinds {
            guard let median = kind.median, kind.worst > Self.most * median else { continue }
            throw TooCostly(
                description:
                    "\(name) of \(kind.worstInput): \(kind.worst) ns, more than \(Self.most) times the median, \(median)"
            )
        }
    }

    /// The median of each kind and how many times as much the costliest took.
    package var summary: String {
        let parts = kinds.sorted { $0.key < $1.key }.compactMap { name, kind -> String? in
            guard let median = kind.median else { return nil }
            return "\(name) "
                + String(
                    format: "%.1f µs, at most %.1f times", Double(median) / 1000, Double(kind.worst) / Double(median))
        }
        return parts.joined(separator: "; ")
    }

    /// Nanoseconds of processor time of this thread.
    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
