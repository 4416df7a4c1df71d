import Encoding
import Foundation

extension Markup {
    /// How long ago a time is, in its largest unit, with the time itself for programs.
    static func ago(_ time: Date, at now: Date) -> Markup {
        "<time datetime=\"\(time.rfc3339)\">\(Elapsed.words(now.timeIntervalSince(time))) ago</time>"
    }
}

/// A duration in words, in its largest unit only.
enum Elapsed {
    /// - Parameter seconds: a negative number, from clocks that differ, is shown as 0.
    static func words(_ seconds: TimeInterval) -> String {
        let units: [(TimeInterval, String)] = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
        let whole = min(max(0, seconds), 1_000_000 * 86_400)
        let (length, noun) = units.first { whole >= $0.0 } ?? (1, "second")
        let count = Int(whole / length)
        return count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}
