import Encoding
import Foundation

/// So many in such a time. Evaluated by the generic cell rate algorithm (ITU-T I.371): one time stamp is all the state,
/// a full burst is allowed after a pause, and then one each `period / count`.
package struct RateLimit: Sendable, Equatable {
    /// How many in one period.
    package let count: Int
    /// The period, in seconds.
    package let period: TimeInterval

    /// So many (at least one) in so many seconds.
    package init(count: Int, per period: TimeInterval) {
        self.count = max(count, 1)
        self.period = period
    }

    /// What the limit says of one attempt.
    package enum Verdict: Sendable, Equatable {
        /// Admitted; the new theoretical arrival time is to be kept.
        case admitted(Date)
        /// Refused; nothing is to be kept. Whole seconds until another attempt can be admitted, at least 1.
        case refused(retryAfter: Int)
    }

    /// Evaluates an attempt.
    ///
    /// - Parameter arrival: the theoretical arrival time that was kept, `nil` at first.
    package func evaluate(arrival: Date?, now: Date) -> Verdict {
        let interval = period / Double(count)
        let start = max(arrival ?? now, now)
        let wait = start.addingTimeInterval(interval - period).timeIntervalSince(now)
        // A wait below a millisecond is rounding, not waiting.
        guard wait < 0.001 else { return .refused(retryAfter: max(1, Int(saturating: wait.rounded(.up)))) }
        return .admitted(start.addingTimeInterval(interval))
    }
}
