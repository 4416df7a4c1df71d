import Encoding

/// A named value of a report: a member of a JSON object, and a row of a table for people.
struct Entry {
    /// The member's name; `nil` to show the value only to people.
    let name: String?
    /// The row's name; `nil` to show the value only to programs.
    let label: String?
    let cell: ReportCell
    /// The text for people if there is no value; `nil` leaves out the row.
    let none: String?

    init(_ name: String, _ label: String, _ value: some CellValue, none: String? = "-") {
        self.init(name: name, label: label, value.cell, none: none)
    }

    /// A value whose row has the member's name with spaces.
    init(_ name: String, _ value: some CellValue, none: String? = "-") {
        self.init(name, name.replacing("_", with: " "), value, none: none)
    }

    /// A value that only programs get.
    static func json(_ name: String, _ value: some CellValue) -> Entry {
        Entry(name: name, label: nil, value.cell, none: nil)
    }

    /// A value that only people get.
    static func people(_ label: String, _ value: some CellValue, none: String? = "-") -> Entry {
        Entry(name: nil, label: label, value.cell, none: none)
    }

    fileprivate init(name: String?, label: String?, _ cell: ReportCell, none: String?) {
        self.name = name
        self.label = label
        self.cell = cell
        self.none = none
    }

    var member: JSONMember? { name.map { JSONMember(name: $0, value: cell.json) } }

    var row: [String]? {
        guard let label, let text = cell.text ?? none else { return nil }
        return [label, text]
    }
}

/// One value of every row: described once for the JSON object, the row of a record and the column of a list.
struct Field<Row> {
    /// The heading in lists; `nil` if lists have no such column.
    let column: String?
    let entry: (Row) -> Entry

    /// - Parameter label: the name in a record; by default the member's name with spaces.
    init<Value: CellValue>(
        _ name: String, _ label: String? = nil, column: String? = nil, none: String? = "-",
        _ value: @escaping (Row) -> Value
    ) {
        self.column = column
        let label = label ?? name.replacing("_", with: " ")
        entry = { Entry(name, label, value($0), none: none) }
    }

    /// A value that only programs get.
    static func json<Value: CellValue>(_ name: String, _ value: @escaping (Row) -> Value) -> Field {
        Field(column: nil) { .json(name, value($0)) }
    }

    /// A value that only programs get; without a value they get no member.
    static func jsonIfPresent<Value: CellValue>(_ name: String, _ value: @escaping (Row) -> Value?) -> Field {
        Field(column: nil) { row in
            let value = value(row)
            return Entry(name: value == nil ? nil : name, label: nil, value.cell, none: nil)
        }
    }

    /// A value that only people get, in a list, a record or both.
    static func people<Value: CellValue>(
        _ label: String? = nil, column: String? = nil, _ value: @escaping (Row) -> Value
    ) -> Field {
        Field(column: column) { Entry(name: nil, label: label, value($0).cell, none: "-") }
    }

    /// This value of a part of each row.
    func of<Whole>(_ part: @escaping (Whole) -> Row) -> Field<Whole> {
        let entry = entry
        return Field<Whole>(column: column) { entry(part($0)) }
    }

    private init(column: String?, entry: @escaping (Row) -> Entry) {
        self.column = column
        self.entry = entry
    }
}
