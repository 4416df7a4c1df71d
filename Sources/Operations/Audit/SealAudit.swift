import Crypto
import Database
import Domain
import Foundation
import Repositories

/// Chains the entries of the audit log and signs where the chain has arrived. One sealer at a time does it, by a lease;
/// writers never wait for it.
package struct SealAudit: Sendable {
    /// How many entries one transaction chains at most: it bounds how long other writers wait.
    static let batch = 250
    /// A checkpoint covers at most so many entries.
    package static let checkpointEntries: Int64 = 1000
    /// An entry is signed at the latest so many seconds after the checkpoint before it: 60, less a round or two.
    static let checkpointAge: TimeInterval = 57
    /// How often the loop looks, seconds.
    static let interval: TimeInterval = 0.4
    /// The same where a round failed, seconds.
    static let pauseAfterError: TimeInterval = 2
    /// How long a lease lives that is not renewed: so long a dead sealer keeps the others waiting.
    static let leaseTime: TimeInterval = 5

    private let store: any Database
    private let key: P256.Signing.PrivateKey
    private let keyID: String
    private let holder: String
    private let environment: Environment
    private let observe: @Sendable (AuditCheckpoint, String) -> Void

    /// Seals the log of a store.
    ///
    /// - Parameters:
    ///   - key: the service's.
    ///   - keyID: its thumbprint (RFC 7638).
    ///   - observe: told each checkpoint and its signed form: what is kept of it elsewhere cannot be taken back here.
    package init(
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

    /// Chains everything that waits, and signs what is due.
    ///
    /// - Parameter signingAll: signs the last entries too, though they are not due yet.
    /// - Returns: how many entries were chained.
    @discardableResult
    package func callAsFunction(signingAll: Bool = false) async throws -> Int {
        var chained = 0
        while true {
            let (head, waits) = try await store.snapshot { transaction in
                let records = AuditChainRepository(transaction)
                return (try records.head(), try records.hasUnchained())
            }
            let room = Int(Self.checkpointEntries - (head.chain.sequence - head.chain.signed))
            let added = waits && room > 0 ? try await chain(min(Self.batch, room)) : 0
            chained += added
            let isSigned = try await sign(dueBefore: signingAll && added == 0 ? .distantFuture : nil)
            guard added > 0 || isSigned else { return chained }
        }
    }

    /// Seals until the task is cancelled, then once more: what a stopped service leaves is signed.
    ///
    /// - Parameter onError: told about each failed round; the next one does its work.
    package func run(onError: @escaping @Sendable (any Error) -> Void) async {
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
        // A task of its own: the cancellation is not meant for this.
        await Task {
            do {
                try await self(signingAll: true)
                try await store.transaction { try AuditChainRepository($0).release(holder) }
            } catch {
                onError(error)
            }
        }.value
    }

    /// Chains some entries in one transaction: it leaves all of them chained or none.
    private func chain(_ limit: Int) async throws -> Int {
        try await store.transaction { transaction in
            let records = AuditChainRepository(transaction)
            guard var chain = try records.lease(to: holder, for: Self.leaseTime) else { return 0 }
            let room = Int(Self.checkpointEntries - (chain.sequence - chain.signed))
            let links = try records.unchained(limit: max(0, min(limit, room))).map { chain.append($0) }
            if !links.isEmpty { try records.write(links, head: chain) }
            return links.count
        }
    }

    /// Signs the head where that is due. What an entry's digest is never changes, so that the signature is made outside
    /// of the transaction; another sealer that was faster has filed its own.
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
