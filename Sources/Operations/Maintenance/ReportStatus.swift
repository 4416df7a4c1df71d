import Database
import Domain
import Foundation
import Repositories

/// What is live: a summary of the store for whoever runs the service.
package struct ReportStatus: Sendable {
    private let store: any Database
    private let policy: SessionPolicy

    /// Reports on a store.
    ///
    /// - Parameter policy: the clocks that sessions are judged by.
    package init(store: any Database, policy: SessionPolicy) {
        self.store = store
        self.policy = policy
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
        /// The moment, by the store's clock.
        package let at: Date
    }

    /// Counts everything.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func callAsFunction() async throws -> Summary {
        try await store.snapshot { transaction in
            let records = StatusRepository(transaction)
            let chain = AuditChainRepository(transaction)
            let head = try chain.head()
            let messages = try OutboxRepository(transaction).counts()
            return Summary(
                sessions: try records.sessions(policy: policy), cuts: try records.cuts(), users: try records.users(),
                devices: try records.devices(), certificates: try records.certificates(),
                providers: try records.providers(),
                outbox: OutboxState.allCases.map { ($0, messages[$0] ?? 0) },
                audit: head.chain, signedAt: head.chain.signed > 0 ? head.signedAt : nil,
                unchained: try chain.countUnchained(), nodes: try ClusterMemberRepository(transaction).live(),
                tasks: try MaintenanceTaskRepository(transaction).list(), at: transaction.now)
        }
    }
}
