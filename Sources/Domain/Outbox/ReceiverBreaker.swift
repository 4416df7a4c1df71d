import Foundation

/// When a receiver that takes nothing of what it is sent is left alone, so that it holds up nobody else.
///
/// After one attempt without an answer that takes or refuses it gets one message at a time, after ``threshold`` in a row it
/// rests; then one attempt shows whether it is back. Each further failure doubles the rest.
package struct ReceiverBreaker: Sendable, Equatable {
    /// How many attempts in a row failed.
    package let failures: Int
    /// Until when nothing is sent to it; `nil` if it was not left alone.
    package let restingUntil: Date?

    /// How many attempts at one receiver are under way at once.
    package static let inFlight = 2
    /// How many are under way to all receivers together whose last attempt failed.
    package static let inFlightToFailing = 4
    /// From so many failures in a row on it rests.
    package static let threshold = 5
    private static let rest = RetryRule(tries: .max, firstWait: 5, longestWait: 300, factor: 2)

    /// Joins the parts; by default it never failed.
    package init(failures: Int = 0, restingUntil: Date? = nil) {
        self.failures = failures
        self.restingUntil = restingUntil
    }

    package func failed(at now: Date) -> ReceiverBreaker {
        let failures = min(failures, 1_000_000) + 1
        guard failures >= Self.threshold, let wait = Self.rest.wait(afterTries: failures - Self.threshold + 1) else {
            return ReceiverBreaker(failures: failures)
        }
        return ReceiverBreaker(failures: failures, restingUntil: now.addingTimeInterval(wait))
    }

    /// How many attempts may begin now, beside those that are under way.
    package func room(besides underWay: Int, now: Date) -> Int {
        if let restingUntil, restingUntil > now { return 0 }
        return max(0, (failures == 0 ? Self.inFlight : 1) - underWay)
    }
}
