import Database

/// A column of a statement's result: a column of a table such as `s.id`, or an expression such as `COUNT(*)`.
///
/// It knows its position in its list. A row is thus read and written by the name of a Swift property, as fast as by
/// position.
struct Column<Content: ColumnContent>: Sendable {
    /// Its SQL text.
    let sql: String
    /// Its position in the list, from 0 on.
    let index: Int

    /// A column that is not in a table's list: an expression, or a column of another table.
    init(_ sql: String, index: Int = 0) {
        self.sql = sql
        self.index = index
    }
}

/// The columns of a table or of a result, as properties. The initializer lists them once, from left to right.
protocol ColumnSet: Sendable {
    init(_ list: inout ColumnList)
}

/// Columns from left to right. Each one gets its position when it is added.
struct ColumnList {
    private var prefix = ""
    /// The columns of SELECT.
    fileprivate var read: [String] = []
    /// The same as INSERT names them.
    fileprivate var names: [String] = []
    /// The columns that only INSERT has, after those of SELECT.
    fileprivate var written: [String] = []

    fileprivate init() {}

    /// Adds a column that is read and written, or an expression.
    mutating func add<Content>(_ sql: String) -> Column<Content> {
        precondition(written.isEmpty || !prefix.isEmpty, "columns that are written alone come last")
        return append(prefix + sql, named: sql)
    }

    /// Adds a column that is written by its name and read as an expression.
    ///
    /// - Parameter expression: of what the statement calls the table.
    mutating func add<Content>(_ name: String, of table: String, readAs expression: (String) -> String)
        -> Column<Content>
    {
        precondition(written.isEmpty || !prefix.isEmpty, "columns that are written alone come last")
        return append(expression(prefix.isEmpty ? table : String(prefix.dropLast())), named: name)
    }

    private mutating func append<Content>(_ sql: String, named name: String) -> Column<Content> {
        read.append(sql)
        names.append(name)
        return Column(sql, index: read.count - 1)
    }

    /// Adds a column that only INSERT has.
    mutating func addWritten<Content>(_ name: String) -> Column<Content> {
        written.append(name)
        return Column(name, index: read.count + written.count - 1)
    }

    /// Adds the columns of a table that a statement joins under an alias.
    mutating func add<Table: ColumnSet>(_: Table.Type, of alias: String) -> Table {
        let outer = (prefix, written)
        prefix = "\(alias)."
        // Nobody inserts into a joined table.
        defer { (prefix, written) = outer }
        return Table(&self)
    }
}

/// A list of columns, made once, with its SQL texts. In a string interpolation it is the list itself: `"SELECT
/// \(columns) FROM sessions"`.
struct Selection<Columns: ColumnSet>: Sendable, CustomStringConvertible {
    /// The columns as properties.
    let each: Columns
    /// The list for SELECT and RETURNING: `id, token_hash, …`.
    let description: String
    /// The list for INSERT: the same, followed by the columns that only INSERT has.
    let all: String
    /// A parameter for each column of INSERT: `$1, $2, …`.
    let placeholders: String
    /// How many columns INSERT has.
    let count: Int

    init(_: Columns.Type) {
        var list = ColumnList()
        each = Columns(&list)
        description = list.read.joined(separator: ", ")
        let all = list.names + list.written
        self.all = all.joined(separator: ", ")
        placeholders = all.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        count = all.count
    }

    /// The arguments of an INSERT of all columns.
    ///
    /// - Parameter fill: sets the row's values. A column that it does not set is null.
    func row(_ fill: (Columns, inout NewRow) -> Void) -> [Value] {
        var row = NewRow()
        row.values.reserveCapacity(count)
        fill(each, &row)
        row.pad(to: count)
        return row.values
    }
}

/// The values of a row to insert; columns without a value are null.
struct NewRow {
    fileprivate var values: [Value] = []

    /// Sets a column's value. In the order of the list it costs an append.
    mutating func set<Content>(_ column: Column<Content>, _ content: Content) {
        if column.index == values.count {
            values.append(content.value)
        } else {
            pad(to: column.index + 1)
            values[column.index] = content.value
        }
    }

    fileprivate mutating func pad(to count: Int) {
        while values.count < count { values.append(.null) }
    }
}

extension Row {
    /// The row's value in a column.
    subscript<Content>(_ column: Column<Content>) -> Content {
        get throws { try Content.read(self, column.index) }
    }

    /// Whether a column is null. If a LEFT JOIN finds no row, all columns of its table are.
    func isNull<Content>(_ column: Column<Content>) throws -> Bool { try value(column.index) == .null }
}

/// A few columns that are read or written together as a tuple, for statements that need no others.
struct ColumnTuple<each Content: ColumnContent>: Sendable, CustomStringConvertible {
    /// The list for SELECT, RETURNING and INSERT.
    let description: String
    /// A parameter for each column: `$1, $2, …`.
    let placeholders: String

    init(_ column: repeat Column<each Content>) {
        var names: [String] = []
        for column in repeat each column { names.append(column.sql) }
        description = names.joined(separator: ", ")
        placeholders = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    }

    /// The arguments of an INSERT of exactly these columns.
    func row(_ content: repeat each Content) -> [Value] {
        var values: [Value] = []
        for content in repeat each content { values.append(content.value) }
        return values
    }

    /// Reads a row of exactly these columns.
    func read(_ row: Row) throws -> (repeat each Content) {
        var place = 0
        func next<Next: ColumnContent>(_: Next.Type) throws -> Next {
            defer { place += 1 }
            return try Next.read(row, place)
        }
        return (repeat try next((each Content).self))
    }
}

extension Transaction {
    /// The one column of the first row of a statement; `nil` if there is no row.
    func value<Content: ColumnContent>(
        _ sql: String, _ arguments: [Value] = [], as: Content.Type = Content.self
    ) throws -> Content? {
        try first(sql, arguments).map { try Content.read($0, 0) }
    }

    /// The one column of each row of a statement.
    func values<Content: ColumnContent>(
        _ sql: String, _ arguments: [Value] = [], as: Content.Type = Content.self
    ) throws -> [Content] {
        try query(sql, arguments).map { try Content.read($0, 0) }
    }
}
