import Database
import Domain
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

    /// What the store has counted already: the sessions at the last count of housekeeping, `nil` before the first, and the
    /// cost of this day's texts (UTC) in thousandths of the currency. With them the nodes that serve the store.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func readTallies() async throws -> (sessions: (count: Int, at: Date)?, spent: Int, nodes: [ClusterMember]) {
        try await store.snapshot { transaction in
            let counts = try StoreSettingRepository(transaction).lastCounts()
            let sessions = counts.flatMap { counts in
                counts.at.map { (counts[.sessions, "authenticated"] + counts[.sessions, "challenged"], $0) }
            }
            return (
                sessions, try PhoneSendRepository(transaction).spentToday(),
                try ClusterMemberRepository(transaction).live()
            )
        }
    }
}
