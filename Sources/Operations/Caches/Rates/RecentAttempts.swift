import Domain
import Foundation
import Synchronization

/// The attempts of one caller at one act, as this process has seen them.
final class RecentAttempts: Sendable {
    private let arrival = Mutex<Date?>(nil)
    private let sentence: String

    /// - Parameter sentence: what the caller has done too often, without a full stop.
    init(_ sentence: String) {
        self.sentence = sentence
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
            throw Refusal(.rateLimited, "\(sentence): try again in \(retryAfter) s.", retryAfter: retryAfter)
        }
    }
}
