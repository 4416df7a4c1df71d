import Foundation

/// A statement that is a complete change. Its decision depends only on what it reads itself, under `READ COMMITTED`. A
/// unique key prevents conflicting changes. That key is the first argument.
package struct SharedStatement: Sendable {
    let text: SharedText
    let arguments: [Value]
    /// The key of the existing row that it changes. Statements in one batch are ordered by it, so that two batches do
    /// not wait for each other's rows.
    let changedKey: String

    /// - Parameter key: the key of the existing row that it changes, if that is not its first argument.
    package init(_ text: SharedText, _ arguments: [Value], changing key: String? = nil) {
        (self.text, self.arguments) = (text, arguments)
        changedKey = key ?? Self.key(arguments)
    }

    var key: String { Self.key(arguments) }

    private static func key(_ arguments: [Value]) -> String {
        guard case .text(let key) = arguments.first else { return "" }
        return key
    }

    /// Executes it alone, with its entry of the change log.
    func carryOut(in transaction: any Transaction) throws -> [Row] {
        let rows = try transaction.query(text.alone, text.arguments(of: self, at: transaction.now))
        if let kind = text.change, case .bytes(let key) = arguments.last, !rows.isEmpty {
            try transaction.appendChange(kind: kind, key: key)
        }
        return rows
    }
}

/// The texts of a statement that takes the time from the store: the engine's clock, or a given one.
package final class SharedText: Sendable {
    /// The texts for a number of statements at once.
    struct Form: Sendable {
        let count: Int
        /// With the time as the last parameter.
        let given: String
        /// With the time of the server's clock.
        let asked: String
    }

    /// The text for a transaction with one statement, with the time as the last parameter.
    let alone: String
    /// The texts for an engine that combines statements, the largest form first.
    let forms: [Form]
    /// The kind of its change; `nil` if no cache contains the changed rows.
    let change: Int?

    private static let clock = "CAST(extract(epoch FROM now()) * 1000 AS BIGINT)"

    /// A text for one statement.
    ///
    /// - Parameters:
    ///   - count: the number of its parameters without the time.
    ///   - text: returns the text for an expression of the time, in milliseconds since 1970.
    init(parameters count: Int, _ text: (_ now: String) -> String) {
        alone = text("CAST($\(count + 1) AS BIGINT)")
        forms = [Form(count: 1, given: alone, asked: text(Self.clock))]
        change = nil
    }

    /// A text for one statement, and another for many rows at once, of rows that are not cached. Both return the
    /// changed rows, starting with the first argument of each.
    ///
    /// - Parameters:
    ///   - count: the number of parameters of a row.
    ///   - alone: returns the text for one, with an expression of the time.
    ///   - many: returns the text for a `VALUES` list with columns `column1` and so on, and an expression of the time.
    package init(
        row count: Int, alone: (_ now: String) -> String, many: (_ rows: String, _ now: String) -> String
    ) {
        self.alone = alone("CAST($\(count + 1) AS BIGINT)")
        forms =
            Self.counts.map { number in
                let rows = Self.rows(number, of: count)
                return Form(
                    count: number, given: many(rows, "CAST($\(number * count + 1) AS BIGINT)"),
                    asked: many(rows, Self.clock))
            } + [Form(count: 1, given: self.alone, asked: alone(Self.clock))]
        change = nil
    }

    /// A planned statement for several rows is cheaper for each row, because the plan is set up once.
    private static let counts = [32, 8]

    private static func rows(_ number: Int, of count: Int) -> String {
        let rows = (0..<number).map { row in
            "(" + (0..<count).map { "$\(row * count + $0 + 1)" }.joined(separator: ", ") + ")"
        }
        return "VALUES " + rows.joined(separator: ", ")
    }

    /// A text for one row, or for many rows at once. It returns the changed rows, starting with the first argument of
    /// each.
    ///
    /// - Parameters:
    ///   - count: the number of arguments of a row. The last one is the key of its entry of the change log, usually 32
    ///   bytes.
    ///   - change: the kind of that entry.
    ///   - key: the name of the result column with it.
    ///   - text: returns the text for a `VALUES` list with columns `column1` and so on, and an expression of the time.
    package init(row count: Int, change: Int, key: String, _ text: (_ rows: String, _ now: String) -> String) {
        alone = text(Self.rows(1, of: count), "CAST($\(count + 1) AS BIGINT)")
        forms = (Self.counts + [1]).map { number in
            let (rows, next) = (Self.rows(number, of: count), number * count)
            let noting = { (statement: String) in
                """
                WITH done AS (\(statement)), noted AS (
                    INSERT INTO change_log (n, tag, kind, key)
                    SELECT CAST($\(next + 1) AS BIGINT) + row_number() OVER (),
                        CAST($\(next + 2) AS BIGINT) + row_number() OVER (), CAST(\(change) AS SMALLINT), done.\(key)
                    FROM done)
                SELECT * FROM done
                """
            }
            return Form(
                count: number, given: noting(text(rows, "CAST($\(next + 3) AS BIGINT)")),
                asked: noting(text(rows, Self.clock)))
        }
        self.change = change
    }

    /// A text for one statement that writes its own entry of the change log, for an engine that combines statements.
    ///
    /// - Parameters:
    ///   - count: the number of parameters without the entry's and the time. The last one is the key of the entry.
    ///   - change: the kind of that entry.
    ///   - alone: the text for other engines.
    ///   - together: returns the text for expressions of the entry's first two columns and of the time.
    package init(
        parameters count: Int, change: Int, alone: String,
        together: (_ number: String, _ tag: String, _ now: String) -> String
    ) {
        self.alone = alone
        let (number, tag) = ("CAST($\(count + 1) AS BIGINT)", "CAST($\(count + 2) AS BIGINT)")
        forms = [
            Form(
                count: 1, given: together(number, tag, "CAST($\(count + 3) AS BIGINT)"),
                asked: together(number, tag, Self.clock))
        ]
        self.change = change
    }

    /// The arguments of a form.
    ///
    /// - Parameters:
    ///   - number: the number of preceding statements in the transaction.
    ///   - now: `nil` for ``Form/asked``.
    func arguments(of statements: ArraySlice<SharedStatement>, after number: Int, at now: Date?) -> [Value] {
        var all = statements.flatMap(\.arguments)
        // Half of the range, so that adding a row's number cannot overflow.
        if change != nil { all += [Value(number), .integer(.random(in: Int64.min / 2...Int64.max / 2))] }
        if let now { all.append(Self.value(now)) }
        return all
    }

    func arguments(of statement: SharedStatement, at now: Date) -> [Value] {
        statement.arguments + [Self.value(now)]
    }

    private static func value(_ now: Date) -> Value {
        .integer(Int64(exactly: (now.timeIntervalSince1970 * 1000).rounded()) ?? .max)
    }
}
