import Crypto
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Reads the audit log: its last entries for people, or all of it for an external verifier.
package struct ReadAudit: Sendable {
    private let store: any Database

    /// Reads the log of a store.
    package init(store: any Database) {
        self.store = store
    }

    /// The newest entries that are not chained yet and pass a filter, newest first, and the last number of the chain.
    func unchained(
        limit: Int, _ passes: @Sendable @escaping (AuditEntry) -> Bool
    ) async throws -> (found: [Entry], through: Int64) {
        try await store.snapshot { transaction in
            let records = AuditChainRepository(transaction)
            let waiting = try records.unchainedLatest(limit: limit).reversed().filter(passes)
            return (waiting.map { Entry(place: nil, entry: $0) }, try records.head().chain.sequence)
        }
    }

    /// The number of the last chained entry; 0 if there is none.
    func lastSequence() async throws -> Int64 {
        try await store.snapshot { try AuditChainRepository($0).head().chain.sequence }
    }

    /// The entries after one number and up to another, oldest first.
    func entries(after sequence: Int64, through end: Int64) async throws -> [Entry] {
        try await store.snapshot { transaction in
            try Self.lines(AuditChainRepository(transaction).links(after: sequence, through: end, limit: .max))
        }
    }

    /// The newest entries with a subject, newest first, by queries of which none depends on another.
    ///
    /// - Parameter end: only entries before this number; `nil` to include entries that are not chained yet.
    static func newest(
        of subject: AuditSubject, before end: Int64?, limit: Int, in transaction: any Transaction
    ) throws -> [Entry] {
        let (records, text) = (AuditChainRepository(transaction), subject.description)
        let waiting = end == nil ? try records.unchained(of: text, limit: limit) : []
        let links = try records.links(of: .subject(text), before: end ?? .max, limit: limit)
        return Array((waiting.map { Entry(place: nil, entry: $0) } + lines(links)).prefix(max(0, limit)))
    }

    /// Entries with a key before a number, newest first, and the number of the last entry that was read; `nil` if no
    /// entries are left.
    func entries(
        of key: AuditChainRepository.Key, before end: Int64, limit: Int
    ) async throws -> (entries: [Entry], last: Int64?) {
        try await store.snapshot { transaction in
            let links = try AuditChainRepository(transaction).links(of: key, before: end, limit: limit)
            return (Self.lines(links), links.count < limit ? nil : links.last?.sequence)
        }
    }
}

package extension ReadAudit {
    /// An entry for display; without a number until it is chained.
    struct Entry: Sendable {
        /// The entry's number and digest.
        package let place: (sequence: Int64, digest: Digest256)?
        package let entry: AuditEntry
    }

    /// The last entries; those that are not chained yet come last.
    func tail(_ count: Int, unchained: Bool) async throws -> [Entry] {
        try await store.snapshot { transaction in
            let records = AuditChainRepository(transaction)
            let waiting = unchained ? try records.unchainedLatest(limit: count) : []
            let head = try records.head().chain.sequence
            let from = head - Int64(max(0, count - waiting.count))
            return try Self.lines(records.links(after: from, through: head, limit: count))
                + waiting.map { Entry(place: nil, entry: $0) }
        }
    }

    /// The entries after a number, at most 500.
    func next(after sequence: Int64) async throws -> [Entry] {
        try await store.snapshot { transaction in
            try Self.lines(AuditChainRepository(transaction).links(after: sequence, through: .max, limit: 500))
        }
    }

    /// A number that changes with every commit; as cheap as `Database/Database/changeStamp()`.
    func changeStamp() throws -> Int64 {
        try store.changeStamp()
    }

    /// Exports all chained entries as lines of JSON. The format comes first, then the anchor if the oldest entries
    /// were purged. Then follow the entries, and each checkpoint after the last entry that it covers.
    ///
    /// - Parameters:
    ///   - keys: the service's public keys as JSON Web Keys, for the first line.
    ///   - write: receives complete lines; one page of the log at a time is in memory.
    ///   - progress: called after each page with the number of written entries, and of all.
    func export(
        keys: JSONValue, write: ([UInt8]) throws -> Void, progress: (Int64, Int64) -> Void = { _, _ in }
    ) async throws {
        let (last, anchor) = try await store.snapshot { transaction in
            (
                try AuditChainRepository(transaction).head().chain.sequence,
                try AuditAnchorRepository(transaction).current()
            )
        }
        try write(
            Self.text([.object(["format": .string("countersign-audit"), "version": .integer(1), "keys": keys])]))
        let first = anchor?.sequence ?? 0
        if let anchor { try write(Self.text([.object(["anchor": .string(anchor.token)])])) }
        var position = first
        while position < last {
            let after = position
            let (links, checkpoints) = try await store.snapshot { transaction in
                let records = AuditChainRepository(transaction)
                let links = try records.links(after: after, through: last, limit: 500)
                return (links, try records.checkpoints(after: after, through: links.last?.sequence ?? after))
            }
            guard let end = links.last?.sequence else { break }
            var waiting = checkpoints[...]
            var values: [JSONValue] = []
            for (sequence, link) in links {
                // A damaged entry leaves a gap, which a verifier finds.
                if let link { values.append(Self.json(link.entry, place: (sequence, link.digest))) }
                while let next = waiting.first, next.sequence <= sequence {
                    values.append(.object(["checkpoint": .string(next.token)]))
                    waiting.removeFirst()
                }
            }
            try write(Self.text(values))
            position = end
            progress(position - first, last - first)
        }
    }

    /// The JSON form of an entry.
    static func json(_ entry: AuditEntry, place: (sequence: Int64, digest: Digest256)?) -> JSONValue {
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        return .object([
            "sequence": place.map { .integer($0.sequence) } ?? .null, "id": .string(entry.id),
            "at": .string(entry.at.rfc3339), "at_ms": .integer(entry.milliseconds), "event": .string(entry.event),
            "subject": .string(entry.subject), "actor": .string(entry.actor), "detail": text(entry.detail),
            "reason": text(entry.reason), "digest": text(place?.digest.base64URL),
        ])
    }

    private static func lines(_ links: [(sequence: Int64, link: AuditLink?)]) -> [Entry] {
        links.compactMap { $0.link }.map { Entry(place: ($0.sequence, $0.digest), entry: $0.entry) }
    }

    private static func text(_ values: [JSONValue]) -> [UInt8] {
        var bytes: [UInt8] = []
        for value in values {
            value.appendJSON(to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

package extension AuditEntry {
    /// The time for display. A time outside the years 1 to 9999 becomes the nearest one in that range.
    var at: Date {
        Date(timeIntervalSince1970: Double(min(max(milliseconds, -62_135_596_800_000), 253_402_300_799_000)) / 1000)
    }
}
