import Crypto
import Database
import Domain
import Foundation
import Repositories

/// Deletes the audit log's oldest entries, once the policy lets them go: up to a checkpoint, and only after they were
/// walked once more. What is left is verified from there: the service signs the checkpoint anew as the log's beginning,
/// before anything is deleted.
package struct PurgeAudit: Sendable {
    /// How many checkpoints one round takes at most; each covers a thousand entries at the most.
    static let checkpoints = 16
    /// How many entries one transaction deletes at most: it bounds how long other writers wait.
    static let batch = 250
    /// So many seconds lie between two anchors, where a round does not take as much as it can.
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
    ///   - key: the service's.
    ///   - keyID: its thumbprint (RFC 7638).
    ///   - keys: the service's public keys, present and past, by thumbprint.
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

    /// One round.
    ///
    /// - Returns: where the log begins now, if that is elsewhere than before.
    /// - Throws: `AuditDefect` where what is old does not hold: then nothing of it goes, for it is what shows that.
    @discardableResult
    package func callAsFunction() async throws -> AuditAnchor? {
        let anchored = try await anchor()
        let anchor = try await next(after: anchored)
        if let anchor {
            let token = try anchor.signed(by: key, keyID: keyID)
            guard try await store.transaction({ try AuditAnchorRepository($0).file(anchor, token: token) }) else {
                return nil
            }
        }
        // What is covered already and was not deleted yet, as after a crash, goes too.
        guard anchor != nil || anchored != nil else { return nil }
        while try await store.transaction({ try AuditAnchorRepository($0).deleteCovered(limit: Self.batch) }) > 0 {}
        return anchor
    }

    /// Where the log begins; `nil` where nothing was ever purged.
    private func anchor() async throws -> AuditAnchor? {
        guard let filed = try await store.snapshot({ try AuditAnchorRepository($0).current() }) else { return nil }
        return try VerifyAudit.anchor(filed, keys: keys)
    }

    /// The last checkpoint that was signed long enough ago, once everything up to it holds: all that it covers is older
    /// than its own time.
    private func next(after anchored: AuditAnchor?) async throws -> AuditAnchor? {
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
                guard !links.isEmpty else { throw AuditDefect.truncated(after: after, signed: sequence) }
                for (number, link) in links {
                    guard let link else { throw AuditDefect.altered(number) }
                    try chain.accept(link)
                }
            }
            try chain.accept(checkpoint: token, filed: sequence, keys: keys)
        }
        return AuditAnchor(sequence: chain.sequence, digest: chain.digest, at: now)
    }
}
