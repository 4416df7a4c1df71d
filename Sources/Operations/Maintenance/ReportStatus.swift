import Database
import Domain
import Foundation
import Repositories

/// What is live: a summary of the store for whoever runs the service.
public struct ReportStatus: Sendable {
    private let store: any Database
    private let policy: SessionPolicy

    /// Reports on a store.
    ///
    /// - Parameter policy: the clocks that sessions are judged by.
    public init(store: any Database, policy: SessionPolicy) {
        self.store = store
        self.policy = policy
    }

    /// The summary; one snapshot of the store.
    public struct Summary: Sendable {
        /// Sessions that may act, and those that must be renewed first.
        public let sessions: (authenticated: Int, challenged: Int)
        /// Users by level.
        public let users: [Assurance: Int]
        /// Devices.
        public let devices: Int
        /// Their certificates.
        public let certificates: (valid: Int, revoked: Int, expired: Int)
        /// Providers.
        public let providers: (enabled: Int, disabled: Int)
        /// Messages by state.
        public let outbox: [(state: OutboxState, count: Int)]
        /// How far the audit log is chained, and how far signed.
        public let audit: AuditChain
        /// When the last checkpoint was filed; `nil` where there is none.
        public let signedAt: Date?
        /// Audit entries that are not chained yet.
        public let unchained: Int
        /// The processes that serve the store, oldest first.
        public let nodes: [ClusterMember]
        /// The moment, by the store's clock.
        public let at: Date
    }

    /// Counts everything.
    ///
    /// - Throws: ``Refusal`` `unavailable`.
    public func callAsFunction() async throws -> Summary {
        try await store.look { transaction in
            let records = StatusRepository(transaction)
            let chain = AuditChainRepository(transaction)
            let head = try chain.head()
            return Summary(
                sessions: try records.sessions(policy: policy), users: try records.users(),
                devices: try records.devices(), certificates: try records.certificates(),
                providers: try records.providers(),
                outbox: try OutboxState.allCases.map { ($0, try OutboxRepository(transaction).count($0)) },
                audit: head.chain, signedAt: head.chain.signed > 0 ? head.signedAt : nil,
                unchained: try chain.countUnchained(), nodes: try ClusterMemberRepository(transaction).live(),
                at: transaction.now)
        }
    }
}
