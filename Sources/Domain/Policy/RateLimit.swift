import Encoding
import Foundation

/// A number of attempts in a period, evaluated by the generic cell rate algorithm (ITU-T I.371). One time stamp is
/// all the state. After a pause a full burst is allowed, and then one attempt each `period / count`.
package struct RateLimit: Sendable, Equatable {
    /// The number of attempts in one period.
    package let count: Int
    /// The length of the period, in seconds.
    package let period: TimeInterval

    /// Allows `count` attempts (at least one) in `period` seconds.
    package init(count: Int, per period: TimeInterval) {
        self.count = max(count, 1)
        self.period = period
    }
}

package extension RateLimit {
    /// The limit's decision about one attempt.
    enum Verdict: Sendable, Equatable {
        /// Admitted. The caller stores the new theoretical arrival time.
        case admitted(Date)
        /// Refused; nothing is stored. Whole seconds until another attempt can be admitted, at least 1.
        case refused(retryAfter: Int)
    }

    /// Evaluates an attempt.
    ///
    /// - Parameter arrival: the stored theoretical arrival time; `nil` at first. A time further ahead than a period is
    ///   ignored: it was stored before the clock was set back.
    func evaluate(arrival: Date?, now: Date) -> Verdict {
        let interval = period / Double(count)
        let arrival = arrival.flatMap { $0.timeIntervalSince(now) > period + 1 ? nil : $0 }
        let start = max(arrival ?? now, now)
        let wait = start.addingTimeInterval(interval - period).timeIntervalSince(now)
        // A wait below a millisecond is a rounding error.
        guard wait < 0.001 else { return .refused(retryAfter: max(1, Int(saturating: wait.rounded(.up)))) }
        return .admitted(start.addingTimeInterval(interval))
    }
}
