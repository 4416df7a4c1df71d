import Foundation

/// The text of a statement that takes the store's time by itself: the engine's clock, or the one that a store was given.
package struct TimedText: Sendable {
    /// With the time as the last parameter.
    let given: String
    /// With the time of the server's own clock.
    let asked: String

    /// - Parameters:
    ///   - count: how many parameters it has without the time.
    ///   - text: makes the text of an expression for the time, in milliseconds since 1970.
    package init(parameters count: Int, _ text: (_ now: String) -> String) {
        given = text("CAST($\(count + 1) AS BIGINT)")
        asked = text("CAST(extract(epoch FROM now()) * 1000 AS BIGINT)")
    }
}

/// A statement that is a whole change: it decides by what it reads itself, under `READ COMMITTED`, and a key refuses what
/// two of them must not both do, with `ON CONFLICT DO NOTHING`. That key is the first argument: those that go together go
/// in its order.
package struct SharedStatement: Sendable {
    let text: TimedText
    let arguments: [Value]

    package init(_ text: TimedText, _ arguments: [Value]) {
        (self.text, self.arguments) = (text, arguments)
    }

    /// Those of ``TimedText/given``.
    func arguments(at now: Date) -> [Value] {
        arguments + [.integer(Int64(exactly: (now.timeIntervalSince1970 * 1000).rounded()) ?? .max)]
    }
}
