import Foundation

/// A read-only statement with its arguments.
struct Question: Hashable {
    let sql: String
    let arguments: [Value]
}

/// Records the statements of a body and returns no rows. See `Transaction/ahead(_:)` and
/// `Transaction/answering(_:)`.
final class StatementsAhead: Transaction {
    let engine: Engine
    private(set) var questions: [Question] = []
    private let moment: () -> Date

    /// - Parameter now: returns the time of the transaction, if a body asks for it.
    init(now: @escaping () -> Date, engine: Engine = .postgreSQL) { (moment, self.engine) = (now, engine) }

    var now: Date { moment() }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        try note(sql, arguments)
        return []
    }

    func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
        try note(sql, arguments)
        return nil
    }

    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        throw StoreError.statement(reason: "only a SELECT can be sent ahead")
    }

    private func note(_ sql: String, _ arguments: [Value]) throws {
        guard sql.hasPrefix("SELECT") else { throw StoreError.statement(reason: "only a SELECT can be sent ahead") }
        let question = Question(sql: sql, arguments: arguments)
        if !questions.contains(question) { questions.append(question) }
    }
}
