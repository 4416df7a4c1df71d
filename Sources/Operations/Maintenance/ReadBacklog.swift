import Database
import Foundation
import Repositories

package extension Service {
    /// How many messages and cards wait, for monitoring: the outbox by kind of message, and the cards in review.
    ///
    /// Each has the number of waiting rows, at most `BacklogRepository.most`, and how many seconds the oldest has waited
    /// beyond its due time.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func readBacklog() async throws -> (
        outbox: [String: (count: Int, age: TimeInterval)], review: (count: Int, age: TimeInterval)
    ) {
        try await store.snapshot { transaction in
            let records = BacklogRepository(transaction)
            func line(_ count: Int, _ since: Date?) -> (count: Int, age: TimeInterval) {
                (count, since.map { max(0, transaction.now.timeIntervalSince($0)) } ?? 0)
            }
            let (cards, since) = try records.review()
            let outbox = try records.outbox().map { ($0.kind, line($0.count, $0.since)) }
            return (Dictionary(outbox, uniquingKeysWith: { $1 }), line(cards, since))
        }
    }
}
