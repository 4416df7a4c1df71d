import Database
import Domain
import Encoding
import Foundation

/// A place in a history: a time, and the id of a row at that time. Pages are newest first.
package struct HistoryPlace: Sendable, Equatable {
    package let at: Date
    let id: String

    package init(at time: Date, id: String) {
        (at, self.id) = (time, id)
    }
}

package extension HistoryPlace {
    /// Before every page. Later times than this one do not occur.
    static let start = HistoryPlace(at: Date(milliseconds: 253_402_300_800_000), id: "")

    /// Whether a row is on a later page.
    func precedes(_ other: HistoryPlace) -> Bool {
        (other.at.milliseconds, other.id) < (at.milliseconds, id)
    }

    /// Parses the text of a cursor; `nil` for anything else.
    init?(cursor text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), (0...253_402_300_800_000).contains(milliseconds),
            (1...64).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
            })
        else { return nil }
        self.init(at: Date(milliseconds: milliseconds), id: String(parts[1]))
    }

    /// The cursor of a row, for the next page.
    var cursor: String { "\(at.milliseconds).\(id)" }
}

extension HistoryPlace {
    var values: [Value] { [.time(at), .text(id)] }
}
