import Foundation

/// When the keys of an issuer were read, and what follows for those that are known.
package struct IssuerReading: Sendable, Equatable {
    /// When a node began the last try.
    package let attemptedAt: Date
    /// When the key set was read well for the last time.
    package let readAt: Date
    /// Until when it need not be read again.
    package let freshUntil: Date
    /// Why the last try failed, in words; `nil` if it did not.
    package let failure: String?

    package init(attemptedAt: Date, readAt: Date, freshUntil: Date, failure: String? = nil) {
        self.attemptedAt = attemptedAt
        self.readAt = readAt
        self.freshUntil = freshUntil
        self.failure = failure
    }

    /// Seconds between two tries for one issuer, whatever asks for them.
    package static let pause: TimeInterval = 60
    /// How long known keys serve while the issuer cannot be read, seconds.
    package static let longestAbsence: TimeInterval = 86_400
    /// For how long a key set may be fresh, seconds.
    package static let freshness: ClosedRange<TimeInterval> = 300...3600

    /// Whether the key set is to be read before a token is judged.
    ///
    /// - Parameter knowsKey: whether the key that the token names is among the known ones.
    package func isDue(at now: Date, knowsKey: Bool) -> Bool {
        // A clock that was set back has no say.
        guard now >= attemptedAt.addingTimeInterval(Self.pause) || now < attemptedAt else { return false }
        return !knowsKey || now >= freshUntil || now < readAt
    }

    /// Whether the known keys may serve.
    package func mayServe(at now: Date) -> Bool { now.timeIntervalSince(readAt) <= Self.longestAbsence }

    /// For how long a key set is fresh by its `Cache-Control` (RFC 9111 §5.2.2), in seconds.
    package static func freshness(byCacheControl field: String?) -> TimeInterval {
        let directives = (field ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        guard !directives.contains("no-store"), !directives.contains("no-cache"),
            let age = directives.first(where: { $0.hasPrefix("max-age=") }),
            let seconds = UInt32(age.dropFirst("max-age=".count))
        else { return freshness.lowerBound }
        return min(max(TimeInterval(seconds), freshness.lowerBound), freshness.upperBound)
    }
}
