import Database
import Domain
import Foundation
import Repositories

/// A summary of the store for the operator.
package struct ReportStatus: Sendable {
    private let store: any Database
    private let policy: SessionPolicy
    private let mostRows: Int

    /// - Parameters:
    ///   - policy: the lifetimes that decide on the state of sessions.
    ///   - mostRows: the maximum number of rows to count in a call. For a larger store the last count of housekeeping
    ///     is returned.
    package init(store: any Database, policy: SessionPolicy, mostRows: Int = 40_000) {
        self.store = store
        self.policy = policy
        self.mostRows = mostRows
    }
}

package extension ReportStatus {
    /// The summary, from one snapshot of the store.
    struct Summary: Sendable {
        /// The numbers of authenticated and challenged sessions.
        package let sessions: (authenticated: Int, challenged: Int)
        /// Bulk revocations in progress. The rows of the sessions that they ended are still counted in `sessions`.
        package let cuts: Int
        package let users: [Assurance: Int]
        package let devices: Int
        package let certificates: (valid: Int, revoked: Int, expired: Int)
        /// The numbers of enabled and disabled providers.
        package let providers: (enabled: Int, disabled: Int)
        package let outbox: [(state: OutboxMessage.State, count: Int)]
        /// How far the audit log is chained and signed.
        package let audit: AuditChain
        /// When the last checkpoint was stored; `nil` if there is none.
        package let signedAt: Date?
        /// The number of audit entries that are not chained yet.
        package let unchained: Int
        /// The processes that serve the store, oldest first.
        package let nodes: [ClusterMember]
        /// The tasks of housekeeping, by name.
        package let tasks: [MaintenanceTaskRepository.Entry]
        /// When sessions, users, devices, certificates and messages were counted; `nil` if just now.
        package let countedAt: Date?
        /// The time of the summary, by the store's clock.
        package let at: Date
    }

    /// The maintenance task that counts a store of any size, a page in each batch.
    ///
    /// - Parameter policy: the lifetimes that decide on the state of sessions.
    static func task(_ policy: CurrentPolicy) -> MaintenanceTask {
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

    /// Reads the summary.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func callAsFunction() async throws -> Summary {
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
                outbox: OutboxMessage.State.allCases.map { ($0, counts[.outbox, $0.rawValue]) },
                audit: head.chain, signedAt: head.chain.signed > 0 ? head.signedAt : nil,
                unchained: try chain.countUnchained(), nodes: try ClusterMemberRepository(transaction).live(),
                tasks: try MaintenanceTaskRepository(transaction).list(),
                countedAt: counts.at, at: transaction.now)
        }
    }

    /// Counts now, or returns the last stored count. A large store without a stored count is counted page by page.
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
