import Database
import Foundation
import Repositories

/// Reads how many messages and cards wait, for monitoring.
package struct ReadBacklog: Sendable {
    private let store: any Database

    package init(store: any Database) {
        self.store = store
    }
}

package extension ReadBacklog {
    /// A backlog of one kind.
    struct Line: Sendable {
        /// The number of waiting rows, at most `BacklogRepository.most`.
        package let count: Int
        /// How many seconds the oldest row has waited beyond its due time.
        package let age: TimeInterval
    }

    struct Backlog: Sendable {
        /// The backlog of the outbox by kind of message.
        package let outbox: [String: Line]
        /// The cards that wait for a reviewer.
        package let review: Line
    }

    /// Reads the backlog.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func callAsFunction() async throws -> Backlog {
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
