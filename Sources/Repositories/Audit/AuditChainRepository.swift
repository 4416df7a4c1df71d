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

    private static let columns = Selection(AuditColumns.self)
    private static let links = Selection(Link.self)
    private static let head = Selection(HeadColumns.self)
    private static let tokens = Selection(SignedTokenColumns.self)

    /// How far the log is chained and signed.
    package struct Head: Sendable, Equatable {
        /// The last entry, its digest, and the last one that a checkpoint covers.
        package let chain: AuditChain
        /// When the last checkpoint was filed; 1970 if there is none.
        package let signedAt: Date
    }

    /// The head.
    ///
    /// - Throws: ``DamagedRow`` if there is none.
    package func head() throws -> Head {
        guard let row = try transaction.first("SELECT \(Self.head) FROM audit_head WHERE id = 1") else {
            throw DamagedRow(column: 0)
        }
        return Head(chain: try Self.head.each.chain(row), signedAt: try row[Self.head.each.signedAt])
    }

    /// Whether some entry has no place in the chain yet.
    package func hasUnchained() throws -> Bool {
        try transaction.first("SELECT 1 FROM audit_entries WHERE sequence IS NULL LIMIT 1") != nil
    }

    /// How many entries have no place in the chain yet.
    package func countUnchained() throws -> Int {
        try transaction.value("SELECT COUNT(*) FROM audit_entries WHERE sequence IS NULL") ?? 0
    }

    /// Takes or keeps the sealer's lease; the chain to go on from, or `nil` while another one holds the lease.
    package func lease(to holder: String, for seconds: TimeInterval) throws -> AuditChain? {
        try transaction.first(
            """
            UPDATE audit_head SET holder = $1, leased_until = $2
            WHERE id = 1 AND (holder IS NULL OR holder = $1 OR leased_until <= $3)
            RETURNING \(Self.head)
            """,
            [.text(holder), .time(transaction.now.addingTimeInterval(seconds)), .time(transaction.now)]
        ).map(Self.head.each.chain)
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
        ).map(Self.columns.each.entry)
    }

    /// Writes the places of entries and moves the head behind them.
    ///
    /// - Throws: ``DamagedRow`` if an entry has a place already: then nothing of the transaction may stay.
    package func write(_ links: [AuditLink], head chain: AuditChain) throws {
        for link in links {
            let written = try transaction.execute(
                "UPDATE audit_entries SET sequence = $2, digest = $3 WHERE id = $1 AND sequence IS NULL",
                [.text(link.entry.id), link.sequence.value, link.digest.value])
            guard written == 1 else { throw DamagedRow(column: 0) }
        }
        try transaction.execute(
            "UPDATE audit_head SET sequence = $1, digest = $2 WHERE id = 1",
            [chain.sequence.value, chain.digest.value])
    }

    /// Files a signed checkpoint; `false` if another one was filed since the one that it follows.
    package func file(_ checkpoint: AuditCheckpoint, token: String) throws -> Bool {
        let moved = try transaction.execute(
            "UPDATE audit_head SET signed = $1, signed_at = $2 WHERE id = 1 AND signed = $3 AND sequence >= $1",
            [.integer(checkpoint.sequence), .time(transaction.now), .integer(checkpoint.previous)])
        guard moved == 1 else { return false }
        try transaction.execute(
            "INSERT INTO audit_checkpoints (\(Self.tokens)) VALUES (\(Self.tokens.placeholders))",
            Self.tokens.row { $0.write(checkpoint.sequence, token, to: &$1) })
        return true
    }

    /// Chained entries in order, from behind one number up to another.
    ///
    /// - Returns: each with its number; `nil` for one that is damaged beyond reading.
    package func links(after: Int64, through: Int64, limit: Int) throws -> [(sequence: Int64, link: AuditLink?)] {
        try transaction.query(
            """
            SELECT \(Self.links) FROM audit_entries WHERE sequence > $1 AND sequence <= $2
            ORDER BY sequence LIMIT $3
            """, [.integer(after), .integer(through), Value(limit)]
        ).map { row in
            let sequence = try row[Self.links.each.sequence]
            return (sequence, try? Self.links.each.link(row))
        }
    }

    /// How many entries claim a place that the chain does not have: below 1 or behind its head.
    package func countStray(behind head: Int64) throws -> Int {
        try transaction.value(
            "SELECT COUNT(*) FROM audit_entries WHERE sequence < 1 OR sequence > $1", [head.value]) ?? 0
    }

    /// The number of the last entry that a kept checkpoint is filed under; 0 if none is kept.
    package func lastCheckpoint() throws -> Int64 {
        try transaction.value("SELECT COALESCE(MAX(sequence), 0) FROM audit_checkpoints") ?? 0
    }

    /// The checkpoints over entries from behind one number up to another, in order; a token that is no text comes empty.
    package func checkpoints(after: Int64, through: Int64) throws -> [(sequence: Int64, token: String)] {
        try transaction.query(
            "SELECT \(Self.tokens) FROM audit_checkpoints WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence",
            [after.value, through.value]
        ).map(Self.tokens.each.token)
    }

    /// The newest entries that have no place yet, oldest first.
    package func unchainedLatest(limit: Int) throws -> [AuditEntry] {
        try transaction.query(
            "SELECT \(Self.columns) FROM audit_entries WHERE sequence IS NULL ORDER BY at DESC, id DESC LIMIT $1",
            [Value(limit)]
        ).reversed().map(Self.columns.each.entry)
    }
}

/// An entry with its place.
private struct Link: ColumnSet {
    let sequence: Column<Int64>
    let digest: Column<Digest256>
    let entry: AuditColumns

    init(_ list: inout ColumnList) {
        sequence = list.add("sequence")
        digest = list.add("digest")
        entry = AuditColumns(&list)
    }

    func link(_ row: Row) throws -> AuditLink {
        AuditLink(sequence: try row[sequence], entry: try entry.entry(row), digest: try row[digest])
    }
}

/// The columns of `audit_head` but for the lease.
private struct HeadColumns: ColumnSet {
    let sequence: Column<Int64>
    let digest: Column<Digest256?>
    let signed: Column<Int64>
    let signedAt: Column<Date>

    init(_ list: inout ColumnList) {
        sequence = list.add("sequence")
        digest = list.add("digest")
        signed = list.add("signed")
        signedAt = list.add("signed_at")
    }

    func chain(_ row: Row) throws -> AuditChain {
        AuditChain(
            sequence: try row[sequence], digest: try row[digest] ?? AuditChain.origin, signed: try row[signed])
    }
}
