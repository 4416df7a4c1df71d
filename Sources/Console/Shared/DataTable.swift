/// A table of rows, with a caption and headers that a screen reader can name. A wide one scrolls in its own box, also by
/// the keyboard.
struct DataTable<Row>: Sendable {
    /// A column, and how it shows a row.
    struct Column: Sendable {
        let heading: String
        /// A cell without content is shown as a dash.
        let cell: @Sendable (Row) -> Markup

        init(_ heading: String, _ cell: @escaping @Sendable (Row) -> Markup) {
            (self.heading, self.cell) = (heading, cell)
        }

        /// A column of text. A right-to-left text does not change the order of its neighbours.
        static func text(_ heading: String, _ text: @escaping @Sendable (Row) -> String?) -> Column {
            Column(heading) { row in
                guard let text = text(row), !text.isEmpty else { return .empty }
                return "<bdi>\(text)</bdi>"
            }
        }
    }

    let caption: String
    /// The sentence in place of a table without rows.
    let none: String
    /// The first one names the row.
    let columns: [Column]

    init(_ caption: String, none: String, _ columns: [Column]) {
        self.caption = caption
        self.none = none
        self.columns = columns
    }
}

extension DataTable {
    func markup(_ rows: [Row]) -> Markup {
        guard !rows.isEmpty else { return "<h2>\(caption)</h2>\n<p>\(none)</p>" }
        return """
            <div class="scroll" role="region" aria-label="\(caption)" tabindex="0">
            <table>
            <caption>\(caption)</caption>
            <thead>
            <tr>\(columns.map { column -> Markup in "<th scope=\"col\">\(column.heading)</th>" }.joined())</tr>
            </thead>
            <tbody>
            \(rows.map(line).joined())
            </tbody>
            </table>
            </div>
            """
    }

    private func line(_ row: Row) -> Markup {
        let cells = columns.enumerated().map { index, column -> Markup in
            let cell = column.cell(row)
            let shown: Markup = cell.isEmpty ? "–" : cell
            return index == 0 ? "<th scope=\"row\">\(shown)</th>" : "<td>\(shown)</td>"
        }
        return "<tr>\(cells.joined())</tr>"
    }
}
