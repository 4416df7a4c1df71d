import Crypto
import Database
import Domain
import Foundation
import Repositories

/// Verifies the whole audit log, from its beginning or from the signed anchor of a purge. It detects entries and
/// checkpoints that were changed, deleted, inserted, moved or cut off.
///
/// It has one page of the log in memory, however long the log is.
package struct VerifyAudit: Sendable {
    /// The number of entries read at once.
    static let page = 500

    private let store: any Database
    private let keys: [String: P256.Signing.PublicKey]
    private let lane: Lane

    /// Verifies the log of a store.
    ///
    /// - Parameters:
    ///   - keys: the service's public keys, current and former, by thumbprint (RFC 7638).
    ///   - lane: the queue of its reads.
    package init(store: any Database, keys: [String: P256.Signing.PublicKey], reading lane: Lane = .usual) {
        self.store = store
        self.keys = keys
        self.lane = lane
    }

    /// The content of a stored anchor, if the service signed it for its position.
    ///
    /// - Throws: `AuditChain.Defect`.
    static func anchor(
        _ filed: (sequence: Int64, token: String), keys: [String: P256.Signing.PublicKey]
    ) throws(AuditChain.Defect) -> AuditAnchor {
        do throws(AuditCheckpoint.Fault) {
            let anchor = try AuditAnchor(token: filed.token, keys: keys)
            if anchor.sequence == filed.sequence { return anchor }
        } catch {
            if case .unknownKey(let keyID) = error { throw .checkpointKeyUnknown(filed.sequence, keyID: keyID) }
        }
        throw .anchorForged(filed.sequence)
    }
}

package extension VerifyAudit {
    struct Report: Sendable, Equatable {
        /// The start of the log, if its oldest entries were purged.
        package var anchor: AuditAnchor?
        package var entries: Int64 = 0
        package var checkpoints = 0
        /// The last entry that a checkpoint covers. Later entries are protected only by the chain itself.
        package var signed: Int64 = 0
        /// The digest of the last valid entry.
        package var digest = AuditChain.origin
        /// The number of entries that are not chained yet.
        package var unchained = 0
        /// The first defect; `nil` if there is none.
        package var defect: AuditChain.Defect?
    }

    /// Verifies the log.
    ///
    /// - Parameters:
    ///   - witness: a checkpoint that was stored elsewhere and must be part of this log.
    ///   - progress: called after each page with the number of valid entries, and of all.
    /// - Throws: `Refusal` `unavailable`; a defect of the log is in the report.
    func callAsFunction(
        witness: AuditCheckpoint? = nil, progress: (Int64, Int64) -> Void = { _, _ in }
    ) async throws -> Report {
        let start = try await store.snapshot(on: lane) { transaction in
            let records = AuditChainRepository(transaction)
            let head = try? records.head().chain
            return Start(
                anchor: try AuditAnchorRepository(transaction).current(), head: head,
                stray: try records.countStray(behind: head?.sequence ?? 0),
                lastCheckpoint: try records.lastCheckpoint(), unchained: try records.countUnchained())
        }
        var report = Report(unchained: start.unchained)
        var chain = AuditChain()
        if let filed = start.anchor {
            do throws(AuditChain.Defect) {
                let anchor = try Self.anchor(filed, keys: keys)
                (report.anchor, chain) = (anchor, anchor.chain)
                if let witness { try anchor.admit(witness) }
            } catch {
                report.defect = error
            }
        }
        let first = chain.sequence
        let last = start.head?.sequence ?? 0
        while report.defect == nil, chain.sequence < last {
            let page = try await read(after: chain.sequence, through: last)
            do throws(AuditChain.Defect) {
                guard !page.links.isEmpty else { throw .truncated(after: chain.sequence, signed: last) }
                try walk(page, &chain, witness: witness, report: &report)
            } catch {
                report.defect = error
            }
            progress(chain.sequence - first, last - first)
        }
        report.defect = report.defect ?? Self.end(of: chain, start, witness: witness)
        (report.entries, report.signed, report.digest) = (
            chain.sequence - first, chain.signed, chain.digest
        )
        return report
    }

    /// The log's own record at the start of the verification; later entries are left for the next one.
    private struct Start: Sendable {
        let anchor: (sequence: Int64, token: String)?
        let head: AuditChain?
        let stray: Int
        let lastCheckpoint: Int64
        let unchained: Int
    }

    private struct Page: Sendable {
        let links: [(sequence: Int64, link: AuditLink?)]
        let checkpoints: [(sequence: Int64, token: String)]
    }

    private func read(after: Int64, through: Int64) async throws -> Page {
        try await store.snapshot(on: lane) { transaction in
            let records = AuditChainRepository(transaction)
            let links = try records.links(after: after, through: through, limit: Self.page)
            return Page(
                links: links, checkpoints: try records.checkpoints(after: after, through: links.last?.sequence ?? after)
            )
        }
    }

    private func walk(
        _ page: Page, _ chain: inout AuditChain, witness: AuditCheckpoint?, report: inout Report
    ) throws(AuditChain.Defect) {
        var checkpoints = page.checkpoints[...]
        for (sequence, link) in page.links {
            guard let link else {
                throw sequence == chain.sequence + 1 ? .altered(sequence) : .missing(chain.sequence + 1)
            }
            try chain.accept(link)
            if let witness, witness.sequence == chain.sequence { try chain.witness(witness) }
            while let next = checkpoints.first, next.sequence <= chain.sequence {
                try chain.accept(checkpoint: next.token, filed: next.sequence, keys: keys)
                report.checkpoints += 1
                checkpoints.removeFirst()
            }
        }
    }

    /// The checks at the end of the log: whether it reaches the last signed entry, and its head.
    private static func end(of chain: AuditChain, _ start: Start, witness: AuditCheckpoint?) -> AuditChain.Defect? {
        let signed = max(start.lastCheckpoint, start.head?.signed ?? 0, witness?.sequence ?? 0)
        if signed > chain.sequence { return .truncated(after: chain.sequence, signed: signed) }
        guard let head = start.head else { return .head(chain.sequence) }
        if chain.signed != head.signed { return .checkpointMissing(head.signed) }
        return chain == head && start.stray == 0 ? nil : .head(head.sequence)
    }
}
