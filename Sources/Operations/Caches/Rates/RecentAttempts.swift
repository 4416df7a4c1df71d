import Domain
import Foundation
import Synchronization

/// The attempts of one caller at one act, as this process has seen them.
final class RecentAttempts: Sendable {
    private let arrival = Mutex<Date?>(nil)
    private let attempts: String

    /// - Parameter attempts: what was attempted, in the plural.
    init(_ attempts: String) {
        self.attempts = attempts
    }

    /// Counts an attempt against a limit.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(limit: RateLimit, now: Date) throws(Refusal) {
        let verdict = arrival.withLock { arrival in
            let verdict = limit.evaluate(arrival: arrival, now: now)
            if case .admitted(let next) = verdict { arrival = next }
            return verdict
        }
        if case .refused(let retryAfter) = verdict {
            throw Refusal.tooMany(attempts, retryAfter: retryAfter)
        }
    }
}
