import Database
import Domain
import Encoding
import Foundation

/// The chain of the audit log: the numbers of entries, the digests, and the signed checkpoints.
///
/// A transaction that chains or stores a checkpoint locks the head's row first. So two sealers cannot chain one entry
/// twice, even if their clocks disagree about the lease.
package struct AuditChainRepository {
    private let transaction: any Transaction
}

package extension AuditChainRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = AuditRepository.columns
    private static let links = ColumnTuple(
        Column<Int64>("sequence"), Column<Digest256>("digest").ifReadable, columns.of("audit_entries").ifReadable)
    /// The columns of `audit_head` without the lease.
    private static let head = ColumnTuple(
        Column<Int64>("sequence"), Column<Digest256?>("digest"), Column<Int64>("signed"), Column<Date>("signed_at"))
    private static let tokens = AuditAnchorRepository.tokens

    /// How far the log is chained and signed: the last entry and its digest, the last entry that a checkpoint covers, and
    /// when that checkpoint was stored; 1970 if there is none.
    ///
    /// - Throws: ``DamagedRow`` if there is none.
    func head() throws -> (chain: AuditChain, signedAt: Date) {
        guard let row = try transaction.first("SELECT \(Self.head) FROM audit_head WHERE id = 1") else {
            throw DamagedRow(column: 0)
        }
        return try Self.head(row)
    }

    private static func head(_ row: Row) throws -> (chain: AuditChain, signedAt: Date) {
        let (sequence, digest, signed, signedAt) = try head.read(row)
        return (AuditChain(sequence: sequence, digest: digest ?? AuditChain.origin, signed: signed), signedAt)
    }

    /// Whether an entry is not chained yet.
    func hasUnchained() throws -> Bool {
        try transaction.first("SELECT 1 FROM audit_entries WHERE sequence IS NULL LIMIT 1") != nil
    }

    /// The number of entries that are not chained yet.
    func countUnchained() throws -> Int {
        try transaction.value("SELECT COUNT(*) FROM audit_entries WHERE sequence IS NULL") ?? 0
    }

    /// Takes or renews the sealer's lease. Returns the chain to continue, or `nil` while another holder's lease is
    /// valid.
    func lease(to holder: String, for seconds: TimeInterval) throws -> AuditChain? {
        try transaction.first(
            """
            UPDATE audit_head SET holder = $1, leased_until = $2
            WHERE id = 1 AND (holder IS NULL OR holder = $1 OR leased_until <= $3)
            RETURNING \(Self.head)
            """,
            [.text(holder), .time(transaction.now.addingTimeInterval(seconds)), .time(transaction.now)]
        ).map { try Self.head($0).chain }
    }

    /// Ends the lease, so that another sealer need not wait for its expiry.
    func release(_ holder: String) throws {
        try transaction.execute(
            "UPDATE audit_head SET holder = NULL, leased_until = 0 WHERE id = 1 AND holder = $1", [.text(holder)])
    }

    /// The entries that are not chained yet, oldest first. An entry that is committed late is in a later result.
    func unchained(limit: Int) throws -> [AuditEntry] {
        try transaction.query(Self.columns, "WHERE sequence IS NULL ORDER BY at, id LIMIT $1", [Value(limit)])
    }

    /// Stores the numbers and digests of entries, and the new head.
    ///
    /// - Throws: ``DamagedRow`` if an entry is chained already; the transaction must then be rolled back.
    func write(_ links: [AuditLink], head chain: AuditChain) throws {
        var left = links[...]
        while let (count, statement) = Self.chaining.first(where: { $0.count <= left.count }) {
            let written = try transaction.execute(
                statement,
                left.prefix(count).flatMap { [.text($0.entry.id), $0.sequence.value, $0.digest.value] })
            guard written == count else { throw DamagedRow(column: 0) }
            left = left.dropFirst(count)
        }
        try transaction.execute(
            "UPDATE audit_head SET sequence = $1, digest = $2 WHERE id = 1",
            [chain.sequence.value, chain.digest.value])
    }

    /// A statement chains 250, 50, ten entries or one, so there are four texts to prepare. With one statement for each
    /// entry the only sealer would wait for the server as often as all writers together.
    private static let chaining = [250, 50, 10, 1].map { count in
        let rows = (0..<count).map { "($\(3 * $0 + 1), $\(3 * $0 + 2), $\(3 * $0 + 3))" }.joined(separator: ", ")
        return (
            count: count,
            statement: """
            UPDATE audit_entries SET sequence = link.column2, digest = link.column3 FROM (VALUES \(rows)) AS link
            WHERE audit_entries.id = link.column1 AND audit_entries.sequence IS NULL
            """
        )
    }

    /// Stores a signed checkpoint; `false` if another one was stored since its predecessor.
    func file(_ checkpoint: AuditCheckpoint, token: String) throws -> Bool {
        let moved = try transaction.execute(
            "UPDATE audit_head SET signed = $1, signed_at = $2 WHERE id = 1 AND signed = $3 AND sequence >= $1",
            [.integer(checkpoint.sequence), .time(transaction.now), .integer(checkpoint.previous)])
        guard moved == 1 else { return false }
        try transaction.execute(
            "INSERT INTO audit_checkpoints (\(Self.tokens)) VALUES (\(Self.tokens.placeholders))",
            Self.tokens.row(checkpoint.sequence, token))
        return true
    }

    /// Chained entries in order, after one number and up to another.
    ///
    /// - Returns: each with its number; `nil` for a damaged entry that cannot be parsed.
    func links(after: Int64, through: Int64, limit: Int) throws -> [(sequence: Int64, link: AuditLink?)] {
        try transaction.query(
            """
            SELECT \(Self.links) FROM audit_entries WHERE sequence > $1 AND sequence <= $2
            ORDER BY sequence LIMIT $3
            """, [.integer(after), .integer(through), Value(limit)]
        ).map(Self.link)
    }

    /// The keys by which entries are found. Each has an index.
    enum Key: Sendable, Equatable {
        case subject(String)
        case actor(String)
        case event(String)
    }

    /// Chained entries with a key before a number, newest first. The order is that of the whole key, so no planner
    /// scans the log by number until it has found enough.
    ///
    /// - Returns: each with its number; `nil` for a damaged entry that cannot be parsed.
    func links(
        of key: Key, before end: Int64, limit: Int
    ) throws -> [(sequence: Int64, link: AuditLink?)] {
        let (column, text) =
            switch key {
            case .subject(let text): ("subject", text)
            case .actor(let text): ("actor", text)
            case .event(let text): ("event", text)
            }
        return try transaction.query(
            """
            SELECT \(Self.links) FROM audit_entries
            WHERE sequence IS NOT NULL AND (\(column), sequence) < ($1, $2) AND (\(column), sequence) > ($1, 0)
            ORDER BY \(column) DESC, sequence DESC LIMIT \(max(0, limit))
            """, [.text(text), .integer(end)]
        ).map(Self.link)
    }

    /// Chained entries before a number, newest first: those with a key, or all.
    func links(
        of key: Key?, before end: Int64, limit: Int
    ) throws -> [(sequence: Int64, link: AuditLink?)] {
        if let key { return try links(of: key, before: end, limit: limit) }
        return try transaction.query(
            "SELECT \(Self.links) FROM audit_entries WHERE sequence < $1 ORDER BY sequence DESC LIMIT $2",
            [.integer(end), Value(limit)]
        ).map(Self.link)
    }

    /// Whether an entry has a subject. Entries that are not chained yet are few.
    func has(subject: String) throws -> Bool {
        let conditions = ["sequence IS NOT NULL AND subject = $1", "sequence IS NULL AND subject = $1"]
        return try conditions.contains {
            try transaction.first("SELECT 1 FROM audit_entries WHERE \($0) LIMIT 1", [.text(subject)]) != nil
        }
    }

    /// The subjects in a range. Each of a chained entry is one search in the index.
    func subjects(after first: String, through last: String, limit: Int) throws -> [String] {
        var found: [String] = []
        while found.count < limit {
            let next: String? = try transaction.value(
                """
                SELECT subject FROM audit_entries WHERE sequence IS NOT NULL AND subject > $1 AND subject <= $2
                ORDER BY subject, sequence LIMIT 1
                """, [.text(found.last ?? first), .text(last)])
            guard let next else { break }
            found.append(next)
        }
        let unchained: [String] = try transaction.values(
            """
            SELECT DISTINCT subject FROM audit_entries WHERE sequence IS NULL AND subject > $1 AND subject <= $2
            LIMIT $3
            """, [.text(first), .text(last), Value(limit)])
        return found + unchained.filter { !found.contains($0) }
    }

    private static func link(_ row: Row) throws -> (sequence: Int64, link: AuditLink?) {
        let (sequence, digest, entry) = try links.read(row)
        guard let digest, let entry else { return (sequence, nil) }
        return (sequence, AuditLink(sequence: sequence, entry: entry, digest: digest))
    }

    /// The number of entries with an invalid number: below 1 or after the head.
    func countStray(behind head: Int64) throws -> Int {
        try transaction.value(
            "SELECT COUNT(*) FROM audit_entries WHERE sequence < 1 OR sequence > $1", [head.value]) ?? 0
    }

    /// The entry number of the last stored checkpoint; 0 if there is none.
    func lastCheckpoint() throws -> Int64 {
        try transaction.value("SELECT COALESCE(MAX(sequence), 0) FROM audit_checkpoints") ?? 0
    }

    /// The checkpoints for entries after one number and up to another, in order. A token that is not valid text is
    /// empty.
    func checkpoints(after: Int64, through: Int64) throws -> [(sequence: Int64, token: String)] {
        try transaction.query(
            "SELECT \(Self.tokens) FROM audit_checkpoints WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence",
            [after.value, through.value]
        ).map(AuditAnchorRepository.token)
    }

    /// The newest entries with a subject that are not chained yet, newest first.
    func unchained(of subject: String, limit: Int) throws -> [AuditEntry] {
        try transaction.query(
            Self.columns, "WHERE sequence IS NULL AND subject = $1 ORDER BY at DESC, id DESC LIMIT $2",
            [.text(subject), Value(limit)])
    }

    /// The newest entries that are not chained yet, oldest first.
    func unchainedLatest(limit: Int) throws -> [AuditEntry] {
        try transaction.query(
            Self.columns, "WHERE sequence IS NULL ORDER BY at DESC, id DESC LIMIT $1", [Value(limit)]
        ).reversed()
    }
}
