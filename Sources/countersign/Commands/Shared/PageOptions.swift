import ArgumentParser
import Domain
import Foundation

/// How much of a list is shown, and from where on.
struct PageOptions: ParsableArguments {
    @Option(help: "How many.") var limit = 50
    @Option(help: "Continue behind this one, the last of the page before.") var cursor: String?

    func validate() throws {
        guard (0...100_000).contains(limit) else { throw ValidationError("--limit takes 0 to 100000.") }
    }

    /// Says on a terminal that the list may go on, and how.
    ///
    /// - Parameter last: what names the last one that is shown.
    func noteRest(_ count: Int, last: String?) {
        guard limit > 0, count >= limit, let last, isatty(STDERR_FILENO) == 1 else { return }
        Output.note("\(count) are shown: --cursor \(last) shows more.")
    }
}

/// Parses a moment that an admin typed: how long ago, or when.
func moment(_ text: String, _ option: String, now: Date) throws(CommandFailure) -> Date {
    if let seconds = PolicyField.seconds(text) { return now.addingTimeInterval(-seconds) }
    guard let moment = CalendarDate(text)?.start ?? (try? Date(text, strategy: .iso8601)) else {
        throw CommandFailure(
            "\(option) takes a time such as 24h, or a day or moment in UTC such as 2026-01-31T23:59:59Z.",
            exitCode: .usage)
    }
    return moment
}
