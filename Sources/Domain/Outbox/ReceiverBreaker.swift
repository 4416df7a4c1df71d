import Foundation

/// A circuit breaker for one receiver: one that does not answer must not delay the others.
///
/// An attempt fails if the receiver neither accepts nor refuses the message. After one failure it gets one message at
/// a time. After ``threshold`` failures in a row nothing is sent for a while, and then one attempt. Each further
/// failure doubles the pause.
package struct ReceiverBreaker: Sendable, Equatable {
    /// Failed attempts in a row.
    package let failures: Int
    /// Nothing is sent to it before this time; `nil` if there is no pause.
    package let pausedUntil: Date?

    package init(failures: Int = 0, pausedUntil: Date? = nil) {
        self.failures = failures
        self.pausedUntil = pausedUntil
    }
}

package extension ReceiverBreaker {
    /// The largest number of concurrent attempts at one receiver.
    static let inFlight = 2
    /// The largest number of concurrent attempts at all receivers whose last attempt failed.
    static let inFlightToFailing = 4
    /// Failures in a row that start a pause.
    static let threshold = 5
    private static let pause = RetryRule(tries: .max, firstWait: 5, longestWait: 300, factor: 2)

    /// The breaker after another failure.
    ///
    /// - Parameter asked: the wait in seconds that the receiver requested; `nil` if it requested none.
    func failed(at now: Date, asked: TimeInterval? = nil) -> ReceiverBreaker {
        let failures = min(failures, 1_000_000) + 1
        let isOver = failures >= Self.threshold
        let usual = isOver ? Self.pause.wait(afterTries: failures - Self.threshold + 1) : nil
        let wait = max(usual ?? 0, min(asked ?? 0, RetryRule.longestAsked))
        return ReceiverBreaker(failures: failures, pausedUntil: wait > 0 ? now.addingTimeInterval(wait) : nil)
    }

    /// How many attempts may start now, in addition to the current ones.
    func available(besides underWay: Int, now: Date) -> Int {
        if let pausedUntil, pausedUntil > now { return 0 }
        return max(0, (failures == 0 ? Self.inFlight : 1) - underWay)
    }
}
