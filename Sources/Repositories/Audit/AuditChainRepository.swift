import Database
import Domain
import Encoding
import Foundation

/// The chain through the audit log: which entry is the how-manieth, the digests, and the signed checkpoints.
///
/// The head's row is taken first by whoever chains or files a checkpoint and stays locked until that transaction ends,
/// so that two sealers cannot chain one entry twice, whatever their clocks say of the lease.
package struct AuditChainRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = "id, at, event, subject, actor, detail, reason"

    /// How far the log is chained and signed.
    package struct Head: Sendable, Equatable {
        /// The last entry, its digest, and the last one that a checkpoint covers.
        package let chain: AuditChain
        /// When the last checkpoint was filed; 1970 where there is none.
        package let signedAt: Date
    }

    /// The head.
    ///
    /// - Throws: ``DamagedRow`` where there is none.
    package func head() throws -> Head {
        guard
            let row = try transaction.first("SELECT sequence, digest, signed, signed_at FROM audit_head WHERE id = 1")
        else { throw DamagedRow(column: 0) }
        return Head(chain: try Self.chain(row), signedAt: try row.time(3))
    }

    /// Whether some entry has no place in the chain yet.
    package func hasUnchained() throws -> Bool {
        try transaction.first("SELECT 1 FROM audit_entries WHERE sequence IS NULL LIMIT 1") != nil
    }

    /// How many entries have no place in the chain yet.
    package func countUnchained() throws -> Int {
        Int(try transaction.first("SELECT COUNT(*) FROM audit_entries WHERE sequence IS NULL")?.integer(0) ?? 0)
    }

    /// Takes or keeps the sealer's lease; the chain to go on from, or `nil` while another one holds the lease.
    package func lease(to holder: String, for seconds: TimeInterval) throws -> AuditChain? {
        try transaction.first(
            """
            UPDATE audit_head SET holder = $1, leased_until = $2
            WHERE id = 1 AND (holder IS NULL OR holder = $1 OR leased_until <= $3)
            RETURNING sequence, digest, signed
            """,
            [.text(holder), .time(transaction.now.addingTimeInterval(seconds)), .time(transaction.now)]
        ).map(Self.chain)
    }

    /// Gives the lease back, so that another sealer need not wait for its end.
    package func release(_ holder: String) throws {
        try transaction.execute(
            "UPDATE audit_head SET holder = NULL, leased_until = 0 WHERE id = 1 AND holder = $1", [.text(holder)])
    }

    /// The entries that have no place yet, oldest first. One that was committed late comes in a later round.
    package func unchained(limit: Int) throws -> [AuditEntry] {
        try transaction.query(
            "SELECT \(Self.columns) FROM audit_entries WHERE sequence IS NULL ORDER BY at, id LIMIT $1", [Value(limit)]
        ).map { try Self.entry($0, from: 0) }
    }

    /// Writes the places of entries and moves the head behind them.
    ///
    /// - Throws: ``DamagedRow`` where an entry has a place already: then nothing of the transaction may stay.
    package func write(_ links: [AuditLink], head chain: AuditChain) throws {
        for link in links {
            let written = try transaction.execute(
                "UPDATE audit_entries SET sequence = $2, digest = $3 WHERE id = $1 AND sequence IS NULL",
                [.text(link.entry.id), .integer(link.sequence), .bytes(link.digest.bytes)])
            guard written == 1 else { throw DamagedRow(column: 0) }
        }
        try transaction.execute(
            "UPDATE audit_head SET sequence = $1, digest = $2 WHERE id = 1",
            [.integer(chain.sequence), .bytes(chain.digest.bytes)])
    }

    /// Files a signed checkpoint; `false` where another one was filed since the one that it follows.
    package func file(_ checkpoint: AuditCheckpoint, token: String) throws -> Bool {
        let moved = try transaction.execute(
            "UPDATE audit_head SET signed = $1, signed_at = $2 WHERE id = 1 AND signed = $3 AND sequence >= $1",
            [.integer(checkpoint.sequence), .time(transaction.now), .integer(checkpoint.previous)])
        guard moved == 1 else { return false }
        try transaction.execute(
            "INSERT INTO audit_checkpoints (sequence, token) VALUES ($1, $2)",
            [.integer(checkpoint.sequence), .text(token)])
        return true
    }

    /// Chained entries in order, from behind one number up to another.
    ///
    /// - Returns: each with its number; `nil` for one that is damaged beyond reading.
    package func links(after: Int64, through: Int64, limit: Int) throws -> [(sequence: Int64, link: AuditLink?)] {
        try transaction.query(
            """
            SELECT sequence, digest, \(Self.columns) FROM audit_entries WHERE sequence > $1 AND sequence <= $2
            ORDER BY sequence LIMIT $3
            """, [.integer(after), .integer(through), Value(limit)]
        ).map { row in
            let sequence = try row.integer(0)
            guard let digest = try? row.digest(1), let entry = try? Self.entry(row, from: 2) else {
                return (sequence, nil)
            }
            return (sequence, AuditLink(sequence: sequence, entry: entry, digest: digest))
        }
    }

    /// How many entries claim a place that the chain does not have: below 1 or behind its head.
    package func countStray(behind head: Int64) throws -> Int {
        Int(
            try transaction.first(
                "SELECT COUNT(*) FROM audit_entries WHERE sequence < 1 OR sequence > $1", [.integer(head)])?
                .integer(0) ?? 0)
    }

    /// The number of the last entry that a kept checkpoint is filed under; 0 where none is kept.
    package func lastCheckpoint() throws -> Int64 {
        try transaction.first("SELECT MAX(sequence) FROM audit_checkpoints")?.integerOrNull(0) ?? 0
    }

    /// The checkpoints over entries from behind one number up to another, in order; a token that is no text comes empty.
    package func checkpoints(after: Int64, through: Int64) throws -> [(sequence: Int64, token: String)] {
        try transaction.query(
            "SELECT sequence, token FROM audit_checkpoints WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence",
            [.integer(after), .integer(through)]
        ).map { (try $0.integer(0), (try? $0.text(1)) ?? "") }
    }

    /// The newest entries that have no place yet, oldest first.
    package func unchainedLatest(limit: Int) throws -> [AuditEntry] {
        try transaction.query(
            "SELECT \(Self.columns) FROM audit_entries WHERE sequence IS NULL ORDER BY at DESC, id DESC LIMIT $1",
            [Value(limit)]
        ).reversed().map { try Self.entry($0, from: 0) }
    }

    private static func chain(_ row: Row) throws -> AuditChain {
        AuditChain(
            sequence: try row.integer(0), digest: try row.value(1) == .null ? AuditChain.origin : row.digest(1),
            signed: try row.integer(2))
    }

    private static func entry(_ row: Row, from first: Int) throws -> AuditEntry {
        AuditEntry(
            id: try row.text(first), milliseconds: try row.integer(first + 1), event: try row.text(first + 2),
            subject: try row.text(first + 3), actor: try row.text(first + 4), detail: try row.textOrNull(first + 5),
            reason: try row.textOrNull(first + 6))
    }
}
