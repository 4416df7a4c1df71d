import Crypto
import Database
import Domain
import Foundation
import Repositories

/// Chains the entries of the audit log and signs checkpoints. A lease ensures that only one process does it at a time.
/// Writers never wait for it.
package struct SealAudit: Sendable {
    /// The largest number of entries that one transaction chains: it limits how long other writers wait.
    static let batch = 250
    /// The largest number of entries that a checkpoint covers.
    static let checkpointEntries: Int64 = 1000
    /// The longest time between two checkpoints, in seconds: 60 minus a round or two.
    static let checkpointAge: TimeInterval = 57
    /// The time between two rounds, in seconds.
    static let interval: TimeInterval = 0.4
    /// Seconds between two rounds after a failure.
    static let pauseAfterError: TimeInterval = 2
    /// Seconds after which a lease expires that is not renewed. A dead sealer delays the others for this long.
    static let leaseTime: TimeInterval = 5

    private let store: any Database
    private let key: P256.Signing.PrivateKey
    private let keyID: String
    private let holder: String
    private let environment: Environment
    private let observe: @Sendable (AuditCheckpoint, String) -> Void
}

package extension SealAudit {
    /// Seals the log of a store.
    ///
    /// - Parameters:
    ///   - key: the service's signing key.
    ///   - keyID: its thumbprint (RFC 7638).
    ///   - observe: called with each checkpoint and its signed form, so that copies can be kept outside the store.
    init(
        store: any Database, key: P256.Signing.PrivateKey, keyID: String, environment: Environment,
        observe: @escaping @Sendable (AuditCheckpoint, String) -> Void = { _, _ in }
    ) {
        self.store = store
        self.key = key
        self.keyID = keyID
        self.environment = environment
        self.observe = observe
        holder = environment.newUUID().uuidString
    }

    /// Chains all waiting entries, and signs what is due.
    ///
    /// - Parameter signingAll: whether to sign the last entries too, before they are due.
    /// - Returns: the number of chained entries.
    @discardableResult
    func callAsFunction(signingAll: Bool = false) async throws -> Int {
        var chained = 0
        while true {
            let (head, waits) = try await store.snapshot { transaction in
                let records = AuditChainRepository(transaction)
                return (try records.head(), try records.hasUnchained())
            }
            let remaining = Int(Self.checkpointEntries - (head.chain.sequence - head.chain.signed))
            let added = waits && remaining > 0 ? try await chain(min(Self.batch, remaining)) : 0
            chained += added
            let isSigned = try await sign(dueBefore: signingAll && added == 0 ? .distantFuture : nil)
            guard added > 0 || isSigned else { return chained }
        }
    }

    /// Seals until the task is cancelled, then once more, so that a stopped service leaves everything signed.
    ///
    /// - Parameter onError: called with the error of each failed round, which the next round repeats.
    func run(onError: @escaping @Sendable (any Error) -> Void) async {
        while !Task.isCancelled {
            var pause = Self.interval
            do {
                try await self()
            } catch {
                onError(error)
                pause = Self.pauseAfterError
            }
            try? await Task.sleep(for: .seconds(pause))
        }
        // A separate task, because the cancellation must not stop the last round.
        await Task {
            do {
                try await self(signingAll: true)
                try await store.transaction { try AuditChainRepository($0).release(holder) }
            } catch {
                onError(error)
            }
        }.value
    }

    /// Chains some entries in one transaction, all or none. The lease locks the head's row before anything else is
    /// read, which is sufficient. A serializable transaction would read where every writer inserts, and be rolled back
    /// because of them.
    private func chain(_ limit: Int) async throws -> Int {
        try await store.maintained { transaction in
            let records = AuditChainRepository(transaction)
            guard var chain = try records.lease(to: holder, for: Self.leaseTime) else { return 0 }
            let untilCheckpoint = Int(Self.checkpointEntries - (chain.sequence - chain.signed))
            let links = try records.unchained(limit: max(0, min(limit, untilCheckpoint))).map { chain.append($0) }
            if !links.isEmpty { try records.write(links, head: chain) }
            return links.count
        }
    }

    /// Signs the head if that is due. An entry's digest never changes, so the signature is made outside the
    /// transaction. If another sealer was faster, its checkpoint is stored instead.
    private func sign(dueBefore limit: Date?) async throws -> Bool {
        let head = try await store.snapshot { try AuditChainRepository($0).head() }
        let unsigned = head.chain.sequence - head.chain.signed
        let now = environment.now()
        let limit = limit ?? now.addingTimeInterval(-Self.checkpointAge)
        guard unsigned > 0, unsigned >= Self.checkpointEntries || head.signedAt <= limit else { return false }
        let checkpoint = AuditCheckpoint(
            sequence: head.chain.sequence, digest: head.chain.digest, previous: head.chain.signed, at: now)
        let token = try checkpoint.signed(by: key, keyID: keyID)
        guard try await store.transaction({ try AuditChainRepository($0).file(checkpoint, token: token) }) else {
            return false
        }
        observe(checkpoint, token)
        return true
    }
}
