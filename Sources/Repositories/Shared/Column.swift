import Database

/// What a statement returns as one value: a column such as `s.id`, an expression such as `COUNT(*)`, or all columns of
/// a joined table.
struct Column<Content>: Sendable {
    let sql: String
    /// The number of columns it takes from the row.
    private let width: Int
    private let content: @Sendable (Row, Int) throws -> Content

    init(_ sql: String, width: Int, content: @escaping @Sendable (Row, Int) throws -> Content) {
        self.sql = sql
        self.width = width
        self.content = content
    }

    /// For a table of a LEFT JOIN: `nil` if no row was found. The first column must be one that is never null.
    var ifFound: Column<Content?> {
        Column<Content?>(sql, width: width) { [content] row, place in
            try row.value(place) == .null ? nil : content(row, place)
        }
    }

    /// `nil` if the content is damaged.
    var ifReadable: Column<Content?> {
        Column<Content?>(sql, width: width) { [content] row, place in try? content(row, place) }
    }

    fileprivate func next(_ row: Row, _ place: inout Int) throws -> Content {
        defer { place += width }
        return try content(row, place)
    }
}

extension Column where Content: ColumnContent {
    init(_ sql: String) {
        self.init(sql, width: 1, content: Content.read)
    }
}

/// Columns that are read or written together as a tuple. In a string interpolation it is their list.
struct ColumnTuple<each Content>: Sendable, CustomStringConvertible {
    /// The list for SELECT, RETURNING and INSERT.
    let description: String
    /// A parameter for each column: `$1, $2, …`.
    let placeholders: String
    private let names: [String]
    private let columns: (repeat Column<each Content>)

    init(_ column: repeat Column<each Content>) {
        columns = (repeat each column)
        var names: [String] = []
        for column in repeat each column { names.append(column.sql) }
        self.names = names
        description = names.joined(separator: ", ")
        placeholders = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    }

    /// Reads a row of exactly these columns.
    func read(_ row: Row) throws -> (repeat each Content) { try read(row, 0) }

    private func read(_ row: Row, _ start: Int) throws -> (repeat each Content) {
        var place = start
        return (repeat try (each columns).next(row, &place))
    }

    /// These columns of a table that a statement joins under an alias.
    func of(_ alias: String) -> Column<(repeat each Content)> {
        Column(names.map { "\(alias).\($0)" }.joined(separator: ", "), width: names.count) { try read($0, $1) }
    }
}

extension ColumnTuple where repeat each Content: ColumnContent {
    /// The arguments of an INSERT of exactly these columns.
    func row(_ content: repeat each Content) -> [Value] {
        var values: [Value] = []
        for content in repeat each content { values.append(content.value) }
        return values
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
