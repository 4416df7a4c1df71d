import Foundation

/// How often, and after which waits, a message is retried.
package struct RetryRule: Sendable, Equatable {
    package let tries: Int
    /// The wait after the first try, in seconds; each later wait is `factor` times as long.
    package let firstWait: TimeInterval
    let longestWait: TimeInterval
    /// The ratio of each wait to the previous one.
    let factor: Double
}

package extension RetryRule {
    /// Five tries, after waits of 2, 6, 18 and 54 seconds; no wait is longer than a minute.
    static let outbox = RetryRule(tries: 5, firstWait: 2, longestWait: 60, factor: 3)

    /// For a day: after 2, 6, 18 and then every 30 seconds, while the carrier is unreachable.
    static let push = RetryRule(tries: 2_880, firstWait: 2, longestWait: 30, factor: 3)

    /// While a device may ring: after 1, 2, 4 and then every 5 seconds, while the carrier is unreachable.
    static let call = RetryRule(tries: 100, firstWait: 1, longestWait: 5, factor: 2)

    /// For three days: after 2, 6, 18, 54, 162 and then every 300 seconds, while the receiver is unreachable.
    static let event = RetryRule(tries: 900, firstWait: 2, longestWait: 300, factor: 3)

    /// The longest wait in seconds that a receiver can request.
    static let longestAsked: TimeInterval = 86_400

    /// The wait after a number of tries; `nil` if there is no further try.
    ///
    /// - Parameter asked: the wait that the receiver requested. It lengthens the wait, up to ``longestAsked``.
    func wait(afterTries made: Int, asked: TimeInterval? = nil) -> TimeInterval? {
        guard made < tries else { return nil }
        let usual = min(longestWait, firstWait * pow(factor, Double(max(made, 1) - 1)))
        return max(usual, min(asked ?? 0, Self.longestAsked))
    }
}
