import Domain
import Encoding
import Foundation
import Operations

/// One value of a report: JSON for programs and a text for people.
struct Cell: Equatable {
    let json: JSONValue
    /// `nil` if there is no value.
    let text: String?

    init(_ json: JSONValue, _ text: String?) {
        self.json = json
        self.text = text
    }
}

/// A value that a report can contain.
protocol CellValue {
    var cell: Cell { get }
}

extension Cell: CellValue {
    var cell: Cell { self }
}

extension String: CellValue {
    var cell: Cell { Cell(.string(self), self) }
}

extension Bool: CellValue {
    var cell: Cell { Cell(.bool(self), self ? "yes" : "no") }
}

extension Int: CellValue {
    var cell: Cell { Cell(.integer(Int64(self)), String(self)) }
}

extension Int64: CellValue {
    var cell: Cell { Cell(.integer(self), String(self)) }
}

extension Date: CellValue {
    var cell: Cell { rfc3339.cell }
}

extension Identifier: CellValue {
    var cell: Cell { description.cell }
}

extension Optional: CellValue where Wrapped: CellValue {
    var cell: Cell { self?.cell ?? Cell(.null, nil) }
}

extension Array: CellValue where Element: CellValue {
    /// An array, and its texts in one line.
    var cell: Cell {
        let cells = map(\.cell)
        return Cell(.array(cells.map(\.json)), isEmpty ? nil : cells.compactMap(\.text).joined(separator: ", "))
    }
}

extension CountedSessions: CellValue {
    /// `12`, or `at least 1000` if counting stopped there.
    var text: String { isLeast ? "at least \(count)" : "\(count)" }

    var cell: Cell { Cell(.integer(Int64(count)), text) }
}
