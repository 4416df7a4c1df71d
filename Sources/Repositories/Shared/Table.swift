import Database

/// A column of a table, and its content in a value.
struct Field<Record, Content: ColumnContent>: Sendable {
    fileprivate let name: String
    fileprivate let content: @Sendable (Record) -> Content
    fileprivate let expression: (@Sendable (_ table: String) -> String)?

    /// - Parameters:
    ///   - name: its name in the table.
    ///   - content: its content in a value: a key path such as `\.id`.
    ///   - expression: the expression that reads it, given the table's name in the statement.
    init(
        _ name: String, _ content: @escaping @Sendable (Record) -> Content,
        readAs expression: (@Sendable (_ table: String) -> String)? = nil
    ) {
        self.name = name
        self.content = content
        self.expression = expression
    }
}

/// The columns of a table, each listed once with its name and its content in a value, in the order of the value's
/// initializer. INSERT, SELECT and the reading of a row derive from this list.
///
/// All texts are made once. In a string interpolation it is the list of SELECT and RETURNING: `"SELECT \(columns) FROM
/// sessions"`.
struct Table<Record>: Sendable, CustomStringConvertible {
    /// The list for SELECT and RETURNING: `id, token_hash, …`.
    let description: String
    let names: [String]
    /// The statement that inserts a row: `INSERT INTO sessions (id, …) VALUES (…)`.
    private(set) var insertion = ""
    /// Reads a row of exactly these columns.
    let read: @Sendable (Row) throws -> Record

    private let name: String
    private let selection: String
    private let expressions: [(@Sendable (String) -> String)?]
    private let contents: [@Sendable (Record) -> Value]
    private let readFrom: @Sendable (Row, Int) throws -> Record

    /// - Parameters:
    ///   - name: the table's name.
    ///   - make: makes a value of the columns' contents: its initializer.
    ///   - field: each column.
    init<each Content: ColumnContent>(
        _ name: String, _ make: @escaping @Sendable (repeat each Content) throws -> Record,
        _ field: repeat Field<Record, each Content>
    ) {
        var names: [String] = []
        var expressions: [(@Sendable (String) -> String)?] = []
        var contents: [@Sendable (Record) -> Value] = []
        for field in repeat each field {
            names.append(field.name)
            expressions.append(field.expression)
            contents.append { field.content($0).value }
        }
        let readFrom: @Sendable (Row, Int) throws -> Record = { row, start in
            var place = start
            return try make(repeat try (each Content).next(row, &place))
        }
        self.name = name
        self.names = names
        self.expressions = expressions
        self.contents = contents
        self.readFrom = readFrom
        read = { try readFrom($0, 0) }
        description = zip(names, expressions).map { $1?(name) ?? $0 }.joined(separator: ", ")
        selection = "SELECT \(description) FROM \(name) "
        insertion = insertion(with: [])
    }

    /// The table of a statement that joins it under an alias.
    func of(_ alias: String) -> Column<Record> {
        let list = zip(names, expressions).map { $1?(alias) ?? "\(alias).\($0)" }
        return Column(list.joined(separator: ", "), width: names.count, content: readFrom)
    }

    /// ``insertion`` with columns that no value contains. Their arguments follow those of the value.
    ///
    /// - Parameter expression: returns the expression for the parameter of such a column.
    func insertion(with others: String..., as expression: (String) -> String = { $0 }) -> String {
        insertion(with: others, as: expression)
    }

    private func insertion(with others: [String], as expression: (String) -> String = { $0 }) -> String {
        let list = (names + others).joined(separator: ", ")
        let own = names.indices.map { "$\($0 + 1)" }
        let places = own + others.indices.map { expression("$\(names.count + $0 + 1)") }
        return "INSERT INTO \(name) (\(list)) VALUES (\(places.joined(separator: ", ")))"
    }

    /// The arguments of ``insertion``.
    ///
    /// - Parameter others: the arguments of columns that no value contains.
    func row(_ record: Record, _ others: Value...) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(contents.count + others.count)
        for content in contents { values.append(content(record)) }
        return values + others
    }

    /// The assignments by which an INSERT overwrites an existing row.
    ///
    /// - Parameter kept: the columns that stay unchanged.
    func overwriting(except kept: Set<String>) -> String {
        names.filter { !kept.contains($0) }.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    }

    fileprivate func selecting(_ rest: String) -> String { selection + rest }
}

extension ColumnContent {
    fileprivate static func next(_ row: Row, _ place: inout Int) throws -> Self {
        defer { place += 1 }
        return try read(row, place)
    }
}

extension Transaction {
    /// The first value that `SELECT … FROM` a table returns; `nil` if there is none.
    ///
    /// - Parameter rest: the statement after the table's name.
    func first<Record>(_ table: Table<Record>, _ rest: String, _ arguments: [Value] = []) throws -> Record? {
        try first(table.selecting(rest), arguments).map(table.read)
    }

    /// The values that `SELECT … FROM` a table returns.
    ///
    /// - Parameter rest: the statement after the table's name.
    func query<Record>(_ table: Table<Record>, _ rest: String, _ arguments: [Value] = []) throws -> [Record] {
        try query(table.selecting(rest), arguments).map(table.read)
    }
}
