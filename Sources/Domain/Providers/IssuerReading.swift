import Foundation

/// When the keys of an issuer were fetched, and whether the cached keys may be used.
package struct IssuerReading: Sendable, Equatable {
    /// When a node began the last attempt.
    package let attemptedAt: Date
    /// When the key set was last fetched successfully.
    package let readAt: Date
    /// The time until which it need not be fetched again.
    package let freshUntil: Date
    /// The reason why the last attempt failed; `nil` if it succeeded.
    package let failure: String?

    package init(attemptedAt: Date, readAt: Date, freshUntil: Date, failure: String? = nil) {
        self.attemptedAt = attemptedAt
        self.readAt = readAt
        self.freshUntil = freshUntil
        self.failure = failure
    }
}

package extension IssuerReading {
    /// The shortest time between two attempts for one issuer, in seconds.
    static let pause: TimeInterval = 60
    /// How long cached keys are used while the issuer cannot be reached, in seconds.
    static let longestAbsence: TimeInterval = 86_400
    /// The permitted time between two fetches of a key set, in seconds.
    static let freshness: ClosedRange<TimeInterval> = 300...3600

    /// Whether the key set must be fetched before a token is verified.
    ///
    /// - Parameter knowsKey: whether the key that the token names is cached.
    func isDue(at now: Date, knowsKey: Bool) -> Bool {
        // An attempt in the future was recorded before the clock was set back, and is ignored.
        guard now >= attemptedAt.addingTimeInterval(Self.pause) || now < attemptedAt else { return false }
        return !knowsKey || now >= freshUntil || now < readAt
    }

    /// Whether the cached keys may be used.
    func mayServe(at now: Date) -> Bool { now.timeIntervalSince(readAt) <= Self.longestAbsence }

    /// How long a key set is fresh by its `Cache-Control` (RFC 9111 §5.2.2), in seconds, within `freshness`.
    static func freshness(byCacheControl field: String?) -> TimeInterval {
        let directives = (field ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        guard !directives.contains("no-store"), !directives.contains("no-cache"),
            let age = directives.first(where: { $0.hasPrefix("max-age=") }),
            let seconds = UInt32(age.dropFirst("max-age=".count))
        else { return freshness.lowerBound }
        return min(max(TimeInterval(seconds), freshness.lowerBound), freshness.upperBound)
    }
}
