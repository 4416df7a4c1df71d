import Crypto
import Database
import Domain
import Foundation
import Repositories

/// Deletes the audit log's oldest entries after the policy's period: up to a checkpoint, and only after they were
/// verified again. The rest is verified from there: before the deletion, the service signs an anchor for the new start.
package struct PurgeAudit: Sendable {
    /// The largest number of checkpoints in one round; each covers at most a thousand entries.
    static let checkpoints = 16
    /// Seconds between two anchors. If a round reached its maximum, another one follows at once.
    static let interval: TimeInterval = 3600

    private let store: any Database
    private let key: P256.Signing.PrivateKey
    private let keyID: String
    private let keys: [String: P256.Signing.PublicKey]
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Purges the log of a store.
    ///
    /// - Parameters:
    ///   - key: the service's signing key.
    ///   - keyID: its thumbprint (RFC 7638).
    ///   - keys: the service's public keys, current and former, by thumbprint.
    package init(
        store: any Database, key: P256.Signing.PrivateKey, keyID: String, keys: [String: P256.Signing.PublicKey],
        policy: CurrentPolicy, environment: Environment
    ) {
        self.store = store
        self.key = key
        self.keyID = keyID
        self.keys = keys
        self.policy = policy
        self.environment = environment
    }
}

package extension PurgeAudit {
    /// The task that moves the log's start, then deletes the entries before it. It fails with an `AuditChain.Defect` if an
    /// old entry is invalid. Then nothing is deleted, because the entries are the evidence.
    ///
    /// - Parameter onAnchor: receives the log's new start, if it changed.
    func task(onAnchor: @escaping @Sendable (AuditAnchor) -> Void) -> MaintenanceTask {
        MaintenanceTask(
            "audit_entries", every: 60,
            preparing: {
                let (anchor, isFull) = try await moveAnchor()
                if let anchor { onAnchor(anchor) }
                // A busy log grows faster than one round per interval could delete it.
                return isFull
            }, batch: { try AuditAnchorRepository($0).deleteCovered($1) })
    }

    /// Runs one round.
    ///
    /// - Returns: the log's new start; `nil` if it did not change.
    /// - Throws: `AuditChain.Defect` if an old entry is invalid.
    @discardableResult
    func callAsFunction() async throws -> AuditAnchor? {
        let (anchor, _) = try await moveAnchor()
        // Also the entries that were covered before and not deleted yet, as after a crash.
        var reached: String?
        while true {
            let batch = MaintenanceBatch(after: reached)
            let outcome = try await store.maintained { try AuditAnchorRepository($0).deleteCovered(batch) }
            reached = outcome.reached
            if outcome.isFinished { return anchor }
        }
    }

    /// Signs the log's new start; `nil` if it did not change. A round that reached its maximum is full.
    private func moveAnchor() async throws -> (anchor: AuditAnchor?, isFull: Bool) {
        guard let (anchor, isFull) = try await next(after: try await anchor()) else { return (nil, false) }
        let token = try anchor.signed(by: key, keyID: keyID)
        let isFiled = try await store.transaction { try AuditAnchorRepository($0).file(anchor, token: token) }
        return (isFiled ? anchor : nil, isFiled && isFull)
    }

    /// The start of the log; `nil` if nothing was ever purged.
    private func anchor() async throws -> AuditAnchor? {
        guard let filed = try await store.snapshot({ try AuditAnchorRepository($0).current() }) else { return nil }
        return try VerifyAudit.anchor(filed, keys: keys)
    }

    /// An anchor at the last checkpoint that is old enough, after everything up to it was verified; `nil` if there is
    /// none. All entries that a checkpoint covers are older than the checkpoint.
    private func next(after anchored: AuditAnchor?) async throws -> (AuditAnchor, isFull: Bool)? {
        let now = environment.now()
        let end = now.addingTimeInterval(-policy[\.retention].auditEntries)
        let start = anchored?.chain ?? AuditChain()
        let filed = try await store.snapshot {
            try AuditAnchorRepository($0).checkpoints(after: start.sequence, limit: Self.checkpoints)
        }
        var old = filed[...]
        while let last = old.last, let checkpoint = try? AuditCheckpoint(token: last.token, keys: keys),
            checkpoint.at > end
        { old.removeLast() }
        guard !old.isEmpty else { return nil }
        if old.count < Self.checkpoints, let anchored, now.timeIntervalSince(anchored.at) < Self.interval { return nil }
        var chain = start
        for (sequence, token) in old {
            while chain.sequence < sequence {
                let after = chain.sequence
                let links = try await store.snapshot {
                    try AuditChainRepository($0).links(after: after, through: sequence, limit: VerifyAudit.page)
                }
                guard !links.isEmpty else { throw AuditChain.Defect.truncated(after: after, signed: sequence) }
                for (number, link) in links {
                    guard let link else { throw AuditChain.Defect.altered(number) }
                    try chain.accept(link)
                }
            }
            try chain.accept(checkpoint: token, filed: sequence, keys: keys)
        }
        return (AuditAnchor(sequence: chain.sequence, digest: chain.digest, at: now), old.count == Self.checkpoints)
    }
}
