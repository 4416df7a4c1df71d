import Database
import Domain
import Foundation
import Repositories

/// What is live: a summary of the store for whoever runs the service.
package struct ReportStatus: Sendable {
    private let store: any Database
    private let policy: SessionPolicy
    private let mostRows: Int

    /// Reports on a store.
    ///
    /// - Parameters:
    ///   - policy: the clocks that sessions are judged by.
    ///   - mostRows: how many rows are counted while somebody waits. Of a larger store the last count of housekeeping
    ///     is told.
    package init(store: any Database, policy: SessionPolicy, mostRows: Int = 40_000) {
        self.store = store
        self.policy = policy
        self.mostRows = mostRows
    }

    /// The summary; one snapshot of the store.
    package struct Summary: Sendable {
        /// Sessions that may act, and those that must be renewed first.
        package let sessions: (authenticated: Int, challenged: Int)
        /// The cuts that are being carried out: the rows of the sessions that they ended are among those of `sessions`.
        package let cuts: Int
        package let users: [Assurance: Int]
        package let devices: Int
        package let certificates: (valid: Int, revoked: Int, expired: Int)
        /// Providers.
        package let providers: (enabled: Int, disabled: Int)
        package let outbox: [(state: OutboxState, count: Int)]
        /// How far the audit log is chained, and how far signed.
        package let audit: AuditChain
        /// When the last checkpoint was filed; `nil` where there is none.
        package let signedAt: Date?
        /// Audit entries that are not chained yet.
        package let unchained: Int
        /// The processes that serve the store, oldest first.
        package let nodes: [ClusterMember]
        /// The tasks of housekeeping, by name.
        package let tasks: [MaintenanceTaskRepository.Entry]
        /// When sessions, users, devices, certificates and messages were counted; `nil` if just now.
        package let countedAt: Date?
        /// The moment, by the store's clock.
        package let at: Date
    }

    /// The task of maintenance that counts a store of whatever size, a page in each batch.
    ///
    /// - Parameter policy: the clocks that sessions are judged by.
    package static func task(_ policy: CurrentPolicy) -> MaintenanceTask {
        MaintenanceTask("row_counts", every: 900) { transaction, batch in
            var counts = batch.after.flatMap { StoreCounts(text: $0) } ?? StoreCounts()
            let rows = try StatusRepository(transaction).count(
                &counts, policy: policy[\.sessions], limit: min(5 * batch.limit, StatusRepository.page))
            guard counts.isWhole else {
                return MaintenanceBatch.Outcome(rows: rows, reached: counts.text, isFinished: false)
            }
            try StoreSettingRepository(transaction).keep(counts)
            return .all(rows)
        }
    }

    /// Counts everything.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func callAsFunction() async throws -> Summary {
        let counts = try await counts()
        return try await store.snapshot { transaction in
            let records = StatusRepository(transaction)
            let chain = AuditChainRepository(transaction)
            let head = try chain.head()
            return Summary(
                sessions: (counts[.sessions, "authenticated"], counts[.sessions, "challenged"]),
                cuts: try records.cuts(),
                users: Dictionary(
                    uniqueKeysWithValues: Assurance.allCases.map { ($0, counts[.users, $0.rawValue]) }
                ).filter { $0.value > 0 },
                devices: counts[.devices, "all"],
                certificates: (
                    counts[.certificates, "valid"], counts[.certificates, "revoked"], counts[.certificates, "expired"]
                ),
                providers: try records.providers(),
                outbox: OutboxState.allCases.map { ($0, counts[.outbox, $0.rawValue]) },
                audit: head.chain, signedAt: head.chain.signed > 0 ? head.signedAt : nil,
                unchained: try chain.countUnchained(), nodes: try ClusterMemberRepository(transaction).live(),
                tasks: try MaintenanceTaskRepository(transaction).list(),
                countedAt: counts.at, at: transaction.now)
        }
    }

    /// What is counted now, or else was counted last. A large store that was never counted is so once, page by page.
    private func counts() async throws -> StoreCounts {
        let (known, last) = try await store.snapshot { transaction in
            let known = try StatusRepository(transaction).counts(policy: policy, atMost: mostRows)
            return (known, known == nil ? try StoreSettingRepository(transaction).lastCounts() : nil)
        }
        if let counts = known ?? last { return counts }
        var counts = StoreCounts()
        while !counts.isWhole {
            counts = try await store.snapshot { [counts] transaction in
                var counts = counts
                _ = try StatusRepository(transaction).count(
                    &counts, policy: policy, limit: StatusRepository.page)
                return counts
            }
        }
        return counts
    }
}
