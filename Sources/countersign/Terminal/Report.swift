import Encoding

/// The result of a command, described once: tables for people, or one JSON value for programs.
struct Report {
    private(set) var json: JSONValue
    /// Each is a heading or none, and rows.
    private(set) var tables: [[[String]]]
    /// A text of this program that is shown unchanged in place of tables, because it may be input for another program. A line feed ends
    /// it.
    var text: String?
    /// Sentences for standard error, such as the next step.
    var notes: [String] = []
    /// A sentence for standard error if that is a terminal.
    var hint: String?
    /// Whether the last row is a good result, shown by its colour; `nil` for no colour.
    var verdict: Bool?
    /// Thrown after the report was shown, for its exit code.
    var failure: (any Error)?
    private(set) var isEmpty = false

    init(_ json: JSONValue, tables: [[[String]]]) {
        self.json = json
        self.tables = tables
    }

    /// An empty report, after everything was shown already.
    static var shown: Report {
        var report = Report(.null, tables: [])
        report.isEmpty = true
        return report
    }

    /// A result that is JSON for people too.
    init(json: JSONValue) {
        self.init(json, tables: [])
        text = Output.text(json)
    }

    /// One object, as rows of name and value.
    init(_ entries: [Entry]) {
        self.init(.object(entries.compactMap(\.member)), tables: [entries.compactMap(\.row)])
    }

    /// One object, as rows of name and value.
    init<Row>(_ row: Row, _ fields: [Field<Row>]) { self.init(fields.map { $0.entry(row) }) }

    /// A list: an array of objects, and a table with a heading.
    ///
    /// - Parameter none: the sentence for standard error if there are no rows: a heading alone looks like a lost answer.
    init<Row>(_ rows: [Row], _ fields: [Field<Row>], none: String = "There is nothing to list.") {
        self.init(.array(rows.map { Self($0, fields).json }), tables: [Self.table(rows, fields)])
        if rows.isEmpty { notes = [none] }
    }

    /// One row without names for people, with values for programs.
    init(row: [String], json entries: [Entry]) {
        self.init(.object(entries.compactMap(\.member)), tables: [[row]])
    }

    /// A list of reports: an array, and a table of all rows.
    init(_ reports: [Report]) {
        self.init(.array(reports.map(\.json)), tables: [reports.flatMap(\.tables).flatMap(\.self)])
    }

    /// A sentence for people, with values for programs.
    init(_ sentences: String..., json entries: [Entry]) {
        self.init(sentences, json: entries)
    }

    /// Sentences for people, with values for programs.
    init(_ sentences: [String], json entries: [Entry]) {
        self.init(.object(entries.compactMap(\.member)), tables: [sentences.map { [$0] }])
    }

    /// This object with a list as a further member, and a further table.
    ///
    /// - Parameter columns: the headings that this table does not need.
    func with<Row>(
        _ name: String, _ rows: [Row], _ fields: [Field<Row>], leavingOut columns: Set<String> = []
    ) -> Report {
        guard case .object(let members) = json else { return self }
        var report = self
        report.json = .object(members + [JSONMember(name: name, value: Report(rows, fields).json)])
        report.tables.append(Self.table(rows, fields.filter { !columns.contains($0.column ?? "") }))
        return report
    }

    /// This report with a sentence for standard error.
    ///
    /// - Parameter note: `nil` for none.
    func noting(_ note: String?) -> Report {
        guard let note else { return self }
        var report = self
        report.notes.append(note)
        return report
    }

    static func table<Row>(_ rows: [Row], _ fields: [Field<Row>]) -> [[String]] {
        let columns = fields.filter { $0.column != nil }
        return [columns.compactMap(\.column)]
            + rows.map { row in
                columns.map { column in
                    let entry = column.entry(row)
                    return entry.cell.text ?? entry.none ?? ""
                }
            }
    }
}

extension Report: CellValue {
    /// The JSON, for a member of another report.
    var cell: ReportCell { ReportCell(json, nil) }
}
