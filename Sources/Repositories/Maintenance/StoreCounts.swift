import Domain
import Encoding
import Foundation

/// The number of rows of each kind, and the progress of counting: a growing table is counted page by page.
package struct StoreCounts: Sendable, Equatable {
    /// By table and kind, such as `users.phone`.
    private var counts: [String: Int] = [:]
    /// The next table and the key after which to continue; `nil` if the count is complete.
    private(set) var place: (table: Table, after: String)? = Table.allCases.first.map { ($0, "") }
    /// When the count was completed; `nil` if it is current.
    package var at: Date?

    package init() {}

    /// Adds a page of the current table.
    ///
    /// - Parameter last: the page's last key; `nil` if the table ends with it.
    mutating func add(_ kinds: [(name: String, count: Int)], last: String?) {
        guard let table = place?.table else { return }
        for (name, count) in kinds { counts["\(table.rawValue).\(name)", default: 0] += count }
        guard let last else {
            let next = Table.allCases.firstIndex(of: table).map { Table.allCases[($0 + 1)...] }
            place = next?.first.map { ($0, "") }
            return
        }
        place = (table, last)
    }
}

package extension StoreCounts {
    /// The tables that are counted row by row, in this order.
    enum Table: String, Sendable, CaseIterable {
        case sessions, users, devices, certificates, outbox
    }

    var isWhole: Bool { place == nil }

    subscript(table: Table, kind: String) -> Int { counts["\(table.rawValue).\(kind)"] ?? 0 }

    static func == (left: StoreCounts, right: StoreCounts) -> Bool { left.text == right.text }

    // MARK: The stored form

    var text: String {
        JSONValue.object([
            "counts": .object(
                counts.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: .integer(Int64($0.value))) }),
            "table": place.map { .string($0.table.rawValue) }, "after": place.map { .string($0.after) },
            "at": at.map { .integer($0.milliseconds) },
        ]).jsonText
    }

    /// Parses the stored form; `nil` for a form of another build.
    init?(text: String) {
        guard let value = try? StrictJSON.parse(Array(text.utf8)), case .object(let members) = value["counts"] else {
            return nil
        }
        for member in members {
            guard case .integer(let count) = member.value else { return nil }
            counts[member.name] = Int(clamping: count)
        }
        place = nil
        if let name = value["table"]?.text {
            guard let table = Table(rawValue: name), let after = value["after"]?.text else { return nil }
            place = (table, after)
        }
        if case .integer(let milliseconds) = value["at"] {
            at = Date(timeIntervalSince1970: TimeInterval(milliseconds) / 1000)
        }
    }
}
