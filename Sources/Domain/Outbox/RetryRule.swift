import Foundation

/// How often, and after which waits, a message is tried that could not be sent.
package struct RetryRule: Sendable, Equatable {
    package let tries: Int
    /// The wait after the first try, in seconds; each further one is `factor` times as long.
    package let firstWait: TimeInterval
    package let longestWait: TimeInterval
    /// How much longer each wait is than the one before it.
    package let factor: Double

    /// Five tries, 2, 6, 18 and 54 seconds apart; a minute is the ceiling.
    package static let outbox = RetryRule(tries: 5, firstWait: 2, longestWait: 60, factor: 3)

    /// For a day: 2, 6, 18 and then every 30 seconds, as long as the carrier is away.
    package static let push = RetryRule(tries: 2_880, firstWait: 2, longestWait: 30, factor: 3)

    /// For three days: 2, 6, 18, 54, 162 and then every 300 seconds, as long as the receiver is away.
    package static let event = RetryRule(tries: 900, firstWait: 2, longestWait: 300, factor: 3)

    package init(tries: Int, firstWait: TimeInterval, longestWait: TimeInterval, factor: Double) {
        self.tries = tries
        self.firstWait = firstWait
        self.longestWait = longestWait
        self.factor = factor
    }

    /// The wait after a number of tries; `nil` if there is to be no other.
    package func wait(afterTries made: Int) -> TimeInterval? {
        guard made < tries else { return nil }
        return min(longestWait, firstWait * pow(factor, Double(max(made, 1) - 1)))
    }
}
