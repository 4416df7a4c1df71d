import CountersignClient
import Domain
import Foundation
import Synchronization

/// The sentences of the tour, and how its steps are shown.
final class TourScript: Sendable {
    private struct Lines {
        /// The number of shown steps.
        var count = 0
        var expected: [String] = []
    }

    private let lines = Mutex(Lines())

    /// Names the next exchanges with the service, in order.
    func expect(_ sentences: String...) {
        lines.withLock { $0.expected = sentences }
    }

    /// Shows an exchange with the service under the sentence that was named for it.
    func show(_ exchange: Exchange) {
        let sentence = lines.withLock { $0.expected.isEmpty ? "… once more" : $0.expected.removeFirst() }
        show(
            sentence, "\(exchange.method) \(exchange.path)", exchange.status.map(String.init) ?? "no answer",
            exchange.duration)
    }

    /// Shows a step on one line.
    func show(_ sentence: String, _ what: String = "", _ result: String = "", _ time: Duration? = nil) {
        let count = lines.withLock { lines in
            lines.count += 1
            return lines.count
        }
        let milliseconds = time.map { time in
            let (seconds, attoseconds) = time.components
            return String(format: "%.1f ms", Double(seconds) * 1000 + Double(attoseconds) / 1e15)
        }
        let columns = [
            String(format: "%2d", count), sentence.padding(toLength: 54, withPad: " ", startingAt: 0),
            what.padding(toLength: 30, withPad: " ", startingAt: 0), result, milliseconds ?? "",
        ]
        var report = Report([Entry]())
        // The blanks between columns are this program's own.
        report.text = columns.map { PlainText.shown($0, keeping: [" "]) }.joined(separator: "  ")
        Output.show(report, asJSON: false)
    }
}
