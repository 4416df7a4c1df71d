import Foundation
import HTTPTypes
import Hummingbird

/// Counts attempts by name in a window of time.
package actor Limiter {
    private let limit: Int
    private let window: TimeInterval
    private var counts: [String: (count: Int, since: Date)] = [:]
    /// The maximum number of names in memory.
    private static let rememberedNames = 10_000

    /// - Parameters:
    ///   - limit: the maximum number in a window.
    ///   - window: the length in seconds.
    package init(_ limit: Int, per window: TimeInterval) { (self.limit, self.window) = (limit, window) }
}

package extension Limiter {
    /// Counts an attempt before it is made.
    ///
    /// - Throws: `429` if the limit is reached, or too many other names are being counted.
    func count(_ name: String) throws {
        let now = Date()
        if counts.count >= Self.rememberedNames, counts[name] == nil {
            counts = counts.filter { now.timeIntervalSince($0.value.since) < window }
            guard counts.count < Self.rememberedNames else { throw refusal(60) }
        }
        let known = counts[name].flatMap { now.timeIntervalSince($0.since) < window ? $0 : nil }
        guard let known else {
            counts[name] = (1, now)
            return
        }
        guard known.count < limit else { throw refusal(window - now.timeIntervalSince(known.since)) }
        counts[name] = (known.count + 1, known.since)
    }

    /// Forgets a name: a correct password clears its wrong ones.
    func clear(_ name: String) { counts[name] = nil }

    private func refusal(_ seconds: TimeInterval) -> HTTPError {
        HTTPError(
            .tooManyRequests, headers: [.retryAfter: String(Int(seconds) + 1)],
            message: "too many attempts: try again later")
    }
}
