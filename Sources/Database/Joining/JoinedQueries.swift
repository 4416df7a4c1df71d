import Foundation

package extension Transaction {
    /// Runs a body whose queries travel as one statement, as far as none depends on the rows of another.
    ///
    /// The body runs twice. First its queries are only noted: it gets no rows, and what it throws for lack of them ends
    /// the noting. Then it runs with the rows of the noted queries. It sends every other query itself.
    func joined<T>(_ body: (any Transaction) throws -> T) throws -> T {
        try body(answering { _ = try body($0) })
    }

    /// This transaction with the rows of what a body asks, all in one statement.
    ///
    /// - Parameter first: sends its queries as usual and gets no rows. What it throws ends only the noting.
    func answering(_ first: (any Transaction) throws -> Void) throws -> any Transaction {
        // Within a body that is only noted there is nothing to join.
        guard !(self is StatementsAhead) else { return self }
        let list = StatementsAhead(now: { self.now }, engine: engine)
        try? first(list)
        let answered = AnsweredTransaction(self)
        _ = try answered.queries(list.questions.map { ($0.sql, $0.arguments) })
        return answered
    }
}

/// A transaction that has the rows of some queries already, until it writes.
private final class AnsweredTransaction: Transaction {
    private let inner: any Transaction
    private var known: [Question: [Row]] = [:]

    init(_ inner: any Transaction) { self.inner = inner }

    var now: Date { inner.now }
    var engine: Engine { inner.engine }
    func timeline() throws -> String { try inner.timeline() }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        if let rows = answer(to: sql, arguments) { return rows }
        return try inner.query(sql, arguments)
    }

    func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
        if let rows = answer(to: sql, arguments) { return rows.first }
        return try inner.first(sql, arguments)
    }

    func queries(_ questions: [(sql: String, arguments: [Value])]) throws -> [[Row]] {
        let unknown = questions.filter { known[Question(sql: $0.sql, arguments: $0.arguments)] == nil }
        for (question, rows) in zip(unknown, try inner.queries(unknown)) {
            known[Question(sql: question.sql, arguments: question.arguments)] = rows
        }
        return questions.map { known[Question(sql: $0.sql, arguments: $0.arguments)] ?? [] }
    }

    func ahead(_ body: (any Transaction) throws -> Void) throws { try inner.ahead(body) }

    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        known = [:]
        return try inner.execute(sql, arguments)
    }

    func enqueue(_ sql: String, _ arguments: [Value]) throws {
        known = [:]
        try inner.enqueue(sql, arguments)
    }

    func once(_ key: [Value], _ writes: () throws -> Void) throws { try inner.once(key, writes) }
    func createChangeLog() throws { try inner.createChangeLog() }
    func emptyChangeLog() throws { try inner.emptyChangeLog() }
    func appendChange(kind: Int, key: [UInt8]) throws { try inner.appendChange(kind: kind, key: key) }

    /// A statement that may write discards all known rows.
    private func answer(to sql: String, _ arguments: [Value]) -> [Row]? {
        if known.isEmpty { return nil }
        if !sql.hasPrefix("SELECT") { known = [:] }
        return known[Question(sql: sql, arguments: arguments)]
    }
}
