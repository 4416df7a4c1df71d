import Database
import Foundation
import Repositories

/// Reads how much waits to be sent or decided, for whoever watches the service.
package struct ReadBacklog: Sendable {
    /// What waits in one line.
    package struct Line: Sendable {
        /// At most `BacklogRepository.most`.
        package let count: Int
        /// For how many seconds the first of them has been waiting beyond its time.
        package let age: TimeInterval
    }

    package struct Backlog: Sendable {
        /// By kind of message.
        package let outbox: [String: Line]
        /// Cards that wait for a reviewer.
        package let review: Line
    }

    private let store: any Database

    package init(store: any Database) {
        self.store = store
    }

    /// - Throws: `Refusal` `unavailable`.
    package func callAsFunction() async throws -> Backlog {
        try await store.snapshot { transaction in
            let records = BacklogRepository(transaction)
            func line(_ count: Int, _ since: Date?) -> Line {
                Line(count: count, age: since.map { max(0, transaction.now.timeIntervalSince($0)) } ?? 0)
            }
            let (cards, since) = try records.review()
            return Backlog(
                outbox: Dictionary(
                    try records.outbox().map { ($0.kind, line($0.count, $0.since)) }, uniquingKeysWith: { $1 }),
                review: line(cards, since))
        }
    }
}
