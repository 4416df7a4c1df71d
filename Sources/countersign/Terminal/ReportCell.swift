import Domain
import Encoding
import Foundation
import Operations

/// One value of a report: JSON for programs and a text for people.
struct ReportCell: Equatable {
    let json: JSONValue
    /// `nil` if there is no value.
    let text: String?

    init(_ json: JSONValue, _ text: String?) {
        self.json = json
        self.text = text
    }
}

extension ReportCell {
    /// Numbers by name: an object, and a line such as `verified 1, rejected 2`.
    static func counts(_ counts: [(name: String, count: Int)]) -> ReportCell {
        ReportCell(
            .object(counts.map { JSONMember(name: $0.name, value: .integer(Int64($0.count))) }),
            counts.isEmpty ? nil : counts.map { "\($0.name) \($0.count)" }.joined(separator: ", "))
    }
}

/// A value that a report can contain.
protocol CellValue {
    var cell: ReportCell { get }
}

extension ReportCell: CellValue {
    var cell: ReportCell { self }
}

extension String: CellValue {
    var cell: ReportCell { ReportCell(.string(self), self) }
}

extension Bool: CellValue {
    var cell: ReportCell { ReportCell(.bool(self), self ? "yes" : "no") }
}

extension Int: CellValue {
    var cell: ReportCell { ReportCell(.integer(Int64(self)), String(self)) }
}

extension Int64: CellValue {
    var cell: ReportCell { ReportCell(.integer(self), String(self)) }
}

extension Date: CellValue {
    var cell: ReportCell { rfc3339.cell }
}

extension Identifier: CellValue {
    var cell: ReportCell { description.cell }
}

extension Optional: CellValue where Wrapped: CellValue {
    var cell: ReportCell { self?.cell ?? ReportCell(.null, nil) }
}

extension Array: CellValue where Element: CellValue {
    /// An array, and its texts in one line.
    var cell: ReportCell {
        let cells = map(\.cell)
        return ReportCell(.array(cells.map(\.json)), isEmpty ? nil : cells.compactMap(\.text).joined(separator: ", "))
    }
}

extension CountedSessions: CellValue {
    /// `12`, or `more than 1000` if counting stopped there.
    var text: String { isMore ? "more than \(count)" : "\(count)" }

    /// With the noun, for sentences: `1 session`, `more than 1000 sessions`.
    var sessions: String { isMore ? "more than \(count) sessions" : count.counting("session") }

    var cell: ReportCell { ReportCell(.integer(Int64(count)), text) }

    /// The members of a report: the number, and whether there are more.
    var entries: [Entry] { [.json("sessions_ended", self), .json("more_sessions", isMore)] }
}
