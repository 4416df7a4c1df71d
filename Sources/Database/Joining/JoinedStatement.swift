/// Several queries as one statement, with the text that suits an engine.
struct JoinedStatement {
    typealias Query = (sql: String, arguments: [Value])

    /// The largest number of queries in a statement. PostgreSQL permits 1,664 columns, and each query has its own.
    private static let most = 24

    let sql: String
    let arguments: [Value]

    private init(_ queries: [Query], _ text: ([String]) -> String) {
        var texts: [String] = []
        var arguments: [Value] = []
        for query in queries {
            texts.append(ParameterCount.shift(query.sql, by: arguments.count))
            arguments += query.arguments
        }
        sql = text(texts)
        self.arguments = arguments
    }

    /// Answers queries in as few statements as possible.
    ///
    /// - Parameters:
    ///   - alone: answers one query.
    ///   - together: answers several in one statement.
    static func answer(
        _ queries: [Query], alone: (Query) throws -> [Row], together: ([Query]) throws -> [[Row]]
    ) throws -> [[Row]] {
        try stride(from: 0, to: queries.count, by: most).flatMap { start in
            let some = Array(queries[start..<min(start + most, queries.count)])
            guard some.count == 1 else { return try together(some) }
            return try some.map(alone)
        }
    }
}

// MARK: SQLite

extension JoinedStatement {
    /// Each row has the number of its query, and then its columns. The rest are null: in SQLite each value has its own
    /// type.
    ///
    /// - Parameter widths: the number of columns of each query.
    init(_ queries: [Query], widths: [Int]) {
        let most = widths.max() ?? 0
        self.init(queries) { texts in
            zip(texts, widths).enumerated().map { place, query in
                let filling = String(repeating: ", NULL", count: most - query.1)
                return "SELECT \(place), q.*\(filling) FROM (\(query.0)) AS q"
            }.joined(separator: " UNION ALL ")
        }
    }

    /// The rows of each query.
    static func split(_ rows: [Row], widths: [Int]) throws -> [[Row]] {
        var found = widths.map { _ in [Row]() }
        for row in rows {
            let place = Int(try row.integer(0))
            guard found.indices.contains(place) else { throw StoreError.column(0, expected: "the number of a query") }
            found[place].append(Row(Array(row.values.dropFirst().prefix(widths[place]))))
        }
        return found
    }
}

// MARK: PostgreSQL

extension JoinedStatement {
    /// Each row has the number of its query, and the columns of all queries in turn, which are null but for that one's.
    /// `OFFSET 0` keeps the planner from merging the queries, so that each runs once, by its own plan. Between the columns
    /// of two queries there is a 0, and before each row that was found a 1: see ``split(_:into:)``.
    init(lateral queries: [Query]) {
        self.init(queries) { texts in
            let places = texts.indices
            let columns = places.map { "0, q\($0).*, " }.joined()
            let joins = zip(places, texts).map { place, text in
                """
                LEFT JOIN LATERAL (SELECT 1, a.* FROM (\(text)) AS a WHERE p.column1 = \(place) OFFSET 0) AS q\(place)
                    ON true
                """
            }
            return """
                SELECT p.column1, \(columns)0 FROM (VALUES \(places.map { "(\($0))" }.joined(separator: ", "))) AS p
                \(joins.joined(separator: "\n"))
                """
        }
    }

    /// The rows of each query.
    static func split(_ rows: [Row], into count: Int) throws -> [[Row]] {
        var found = (0..<count).map { _ in [Row]() }
        var columns: [Int: Range<Int>] = [:]
        for row in rows {
            let place = Int(try row.integer(0))
            guard found.indices.contains(place) else { throw StoreError.column(0, expected: "the number of a query") }
            let range = try columns[place] ?? Self.columns(of: place, of: count, in: row)
            columns[place] = range
            guard let mark = range.first, row.values[mark] != .null else { continue }
            found[place].append(Row(Array(row.values[range.dropFirst()])))
        }
        return found
    }

    /// The columns of a query with the mark of a found row. Before and after them all values but the zeros are null.
    private static func columns(of place: Int, of count: Int, in row: Row) throws -> Range<Int> {
        let known = row.values.indices.dropFirst().filter { row.values[$0] != .null }
        guard let before = known.dropFirst(place).first, let after = known.suffix(count - place).first,
            before + 1 < after
        else { throw StoreError.column(0, expected: "the columns of query \(place)") }
        return before + 1..<after
    }
}

extension PostgreSQLTransaction {
    func queries(_ questions: [(sql: String, arguments: [Value])]) throws -> [[Row]] {
        try JoinedStatement.answer(
            questions, alone: { try query($0.sql, $0.arguments) },
            together: { some in
                let joined = JoinedStatement(lateral: some)
                return try JoinedStatement.split(try query(joined.sql, joined.arguments), into: some.count)
            })
    }
}
