import Foundation

/// A chart of columns as SVG in the page, and the same numbers as a table for readers who do not see it.
struct BarChart: Sendable {
    let title: String
    /// The noun of what is counted, in the plural: `sign-ins`.
    let unit: String
    /// Whether the numbers add up. The length of a queue does not.
    let hasSum: Bool
    /// The columns from left to right, each with its time.
    let columns: [(time: String, value: Int)]
    /// How many columns a row of the table sums up.
    let columnsInRow: Int
}

extension BarChart {
    /// The height of the drawing, and the width of a column with its gap.
    private static let (height, width) = (100, 10)

    private var highest: Int { columns.map(\.value).max() ?? 0 }
    private var sum: Int { columns.reduce(0) { $0 + $1.value } }

    private var summary: String {
        guard highest > 0 else { return "none" }
        return hasSum ? "\(sum) in all, at most \(highest) in a column" : "at most \(highest)"
    }

    var markup: Markup {
        """
        <figure>
        <figcaption>\(title): \(summary)</figcaption>
        <svg viewBox="0 0 \(columns.count * Self.width) \(Self.height + 2)" preserveAspectRatio="none" role="img" \
        aria-label="\(title): \(summary)">
        <line class="axis" x1="0" y1="\(Self.height + 1)" x2="\(columns.count * Self.width)" y2="\(Self.height + 1)"/>
        <path class="bar" d="\(drawing)"/>
        </svg>
        <p class="ends"><span>\(columns.first?.time ?? "")</span> <span>\(columns.last?.time ?? "")</span></p>
        <details>
        <summary>\(title) as a table</summary>
        \(table)
        </details>
        </figure>
        """
    }

    /// All columns as one path: an element for each would be most of the page.
    private var drawing: String {
        columns.enumerated().filter { $0.element.value > 0 }.map { place, column in
            // A small number is seen too.
            let height = max(2, column.value * Self.height / max(1, highest))
            return "M\(place * Self.width) \(Self.height)v-\(height)h\(Self.width - 2)v\(height)z"
        }.joined()
    }

    private var table: Markup {
        let rows = stride(from: 0, to: columns.count, by: columnsInRow).map { start in
            let part = columns[start..<min(start + columnsInRow, columns.count)]
            return (
                time: part.first?.time ?? "",
                value: hasSum ? part.reduce(0) { $0 + $1.value } : part.map(\.value).max() ?? 0
            )
        }
        return DataTable<(time: String, value: Int)>(
            title, none: "Nothing is known yet.",
            [.text("From (UTC)") { $0.time }, .init(hasSum ? "Number of \(unit)" : "Most \(unit)") { "\($0.value)" }]
        ).markup(rows)
    }
}
