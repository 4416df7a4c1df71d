import Crypto
import Database
import Domain
import Foundation
import Repositories

package extension Administration {
    /// A page of the audit log, newest entry first, and the number before which the next page begins; `nil` if there is
    /// none. A page may have few entries although older ones pass the filter.
    typealias AuditPage = (entries: [ReadAudit.Entry], next: Int64?)

    /// The number of entries that one page reads to find those that pass several conditions, of which one has an index.
    private static let scanned = 2000

    /// A page of the audit log in one statement for chained entries and one for others, however long the log is.
    ///
    /// - Parameter end: only entries before this number; `nil` to include entries that are not chained yet.
    func browseAudit(_ filter: ReadAudit.Filter, before end: Int64? = nil, count: Int) async throws -> AuditPage {
        try await read(.audit) { transaction in
            let records = AuditChainRepository(transaction)
            let waiting = end == nil ? try records.unchainedLatest(limit: count).reversed().filter(filter.admits) : []
            let limit = filter.needsScan ? max(count + 1, Self.scanned) : count + 1
            let links = try records.links(of: filter.keys.first, before: end ?? .max, limit: limit)
            let passing = links.compactMap { link in
                link.link.map { ReadAudit.Entry(place: (link.sequence, $0.digest), entry: $0.entry) }
            }.filter { filter.admits($0.entry) }
            let shown = passing.prefix(count)
            let isOver =
                links.count < limit
                || filter.since.map { since in
                    links.last?.link.map { $0.entry.at < since } ?? false
                } ?? false
            let next = passing.count > count ? shown.last?.place?.sequence : isOver ? nil : links.last?.sequence
            return (waiting.map { ReadAudit.Entry(place: nil, entry: $0) } + shown, next)
        }
    }

    /// Verifies the whole audit log, unless it is too long for a caller who waits.
    ///
    /// - Parameters:
    ///   - keys: the service's public keys, current and former, by thumbprint (RFC 7638).
    ///   - most: the largest number of entries.
    ///   - shared: the verification of this node.
    /// - Returns: `nil` if the log is longer.
    func verifyAudit(
        keys: [String: P256.Signing.PublicKey], atMost most: Int64, by shared: SharedVerification
    ) async throws -> VerifyAudit.Report? {
        let length = try await read(.audit) { transaction in
            let first = try AuditAnchorRepository(transaction).current()?.sequence ?? 0
            return try AuditChainRepository(transaction).head().chain.sequence - first
        }
        guard length <= most else { return nil }
        let verify = VerifyAudit(store: store, keys: keys, reading: lane)
        return try await shared { try await verify() }
    }
}
