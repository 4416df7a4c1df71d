import Foundation

/// A statement that only reads, with its arguments.
struct Question: Hashable {
    let sql: String
    let arguments: [Value]
}

/// Notes what a body would ask, and has no rows: see `Transaction/ahead(_:)`.
final class StatementsAhead: Transaction {
    let now: Date
    let engine = Engine.postgreSQL
    private(set) var questions: [Question] = []

    init(now: Date) { self.now = now }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        try note(sql, arguments)
        return []
    }

    func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
        try note(sql, arguments)
        return nil
    }

    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        throw StoreError.statement(reason: "only what reads is asked ahead")
    }

    private func note(_ sql: String, _ arguments: [Value]) throws {
        guard sql.hasPrefix("SELECT") else { throw StoreError.statement(reason: "only what reads is asked ahead") }
        let question = Question(sql: sql, arguments: arguments)
        if !questions.contains(question) { questions.append(question) }
    }
}
