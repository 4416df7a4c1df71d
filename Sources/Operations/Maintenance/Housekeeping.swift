import Database
import Domain
import Foundation
import Repositories

/// Forgets what no longer matters: spent nonces beyond their age, ended sessions, old limits and changes, what was counted
/// of texts, and messages that ended a week ago, certificates and devices beyond the policy's time. Writes down which
/// authorizations nobody answered in time.
package struct Housekeeping: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// How many certificates of a kind one transaction deletes at most, and how many such transactions a round has.
    static let batch = 250
    private static let batches = 40

    /// One round; nothing is lost when it fails, the next one does it.
    package func callAsFunction() async throws {
        let kept = context.policy[\.nonces].keptAfterExpiry
        let inputKept = context.policy[\.cards].rawInputKept
        let numbersPeriod = context.policy[\.phones].numbersPerUserPeriod
        let policy = context.policy[\.sessions]
        let sessionsKept = policy.absoluteLifetime + policy.renewalWindow + policy.idleLifetime
        let idle = context.environment.now().addingTimeInterval(-policy.idleLifetime)
        context.caches.sessions.dropIdle(since: idle)
        context.caches.certificates.dropIdle(since: idle)
        try await context.store.transaction { transaction in
            // By the store's clock: a node whose own is ahead would forget nonces that can still be shown.
            let now = transaction.now
            try NonceRepository(transaction).purge(expiredBefore: now.addingTimeInterval(-kept))
            try SessionRepository(transaction).purge(before: now.addingTimeInterval(-sessionsKept))
            try RateRepository(transaction).purge(before: now.addingTimeInterval(-60))
            try RepeatedRequestRepository(transaction).purge()
            try ChangeLog(transaction).purge(before: now.addingTimeInterval(-3600))
            let month = now.addingTimeInterval(-max(numbersPeriod, 30 * 86_400))
            try PhoneSendRepository(transaction).purge(before: month)
            try PhoneFailureRepository(transaction).purge(before: month)
            try PhoneVerificationRepository(transaction).purge(expiredBefore: now.addingTimeInterval(-86_400))
            try IdentityCardRepository(transaction).dropInput(before: now.addingTimeInterval(-inputKept))
            try AuthorizationRepository(transaction).expire(limit: 1000)
            try BanMaintenance(transaction).purge()
            try OutboxRepository(transaction).purge(endedBefore: now.addingTimeInterval(-7 * 86_400))
            try ClusterMemberRepository(transaction).purge(unseenSince: now.addingTimeInterval(-86_400))
        }
        try await purgeCertificates()
        // What was erased since the last round is to be gone from the log as well, data keys above all.
        try await context.store.clearLog()
    }

    /// Some at a time, so that writers do not wait for all of them.
    private func purgeCertificates() async throws {
        let kept = context.policy[\.retention]
        for _ in 0..<Self.batches {
            let count = try await context.store.transaction { transaction in
                try CertificateUpkeep(transaction).purge(
                    endedBefore: transaction.now.addingTimeInterval(-kept.endedCertificates),
                    unseenSince: transaction.now.addingTimeInterval(-kept.unseenCertificates), limit: Self.batch)
            }
            guard count >= Self.batch else { return }
        }
    }
}
