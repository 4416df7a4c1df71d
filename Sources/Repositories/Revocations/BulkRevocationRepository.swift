import Database
import Domain
import Encoding
import Foundation

/// Bulk revocations whose sessions must still be ended row by row. Only one process at a time works on each of them: it
/// has a lease until it releases the bulk revocation or the lease expires.
package struct BulkRevocationRepository {
    private let transaction: any Transaction
}

package extension BulkRevocationRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<String>("kind"), Column<String>("gate_id"), Column<Int64>("generation"), Column<String>("why"),
        Column<Date>("at"), Column<Int64>("ended"))
    /// The maximum time by which `due_at` is ahead, in seconds. A later one is from a clock that was set back since.
    static let patience: TimeInterval = 30
    private static let isFree = "(due_at <= $1 OR due_at > $1 + \(Int64(patience * 1000)) OR holder = $2)"

    /// Inserts a bulk revocation of the sessions before the current generation.
    func insert(_ scope: RevocationScope, _ why: SessionEnding) throws {
        let (table, id) = GenerationRepository.row(of: scope)
        try transaction.enqueue(
            """
            INSERT INTO cuts (\(Self.columns), due_at)
            SELECT '\(Self.kind(of: scope))', id, generation, $2, $3, 0, $3 FROM \(table) WHERE id = $1
            """, [id, .text(why.rawValue), .time(transaction.now)])
    }

    /// Whether a bulk revocation is free to take.
    func isDue(to holder: String) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM cuts WHERE \(Self.isFree) LIMIT 1", [.time(transaction.now), .text(holder)]) != nil
    }

    /// Takes the longest waiting bulk revocation among those that are free; `nil` if there is none.
    ///
    /// - Parameter seconds: the length of the lease.
    func take(by holder: String, for seconds: TimeInterval) throws -> BulkRevocation? {
        // The condition is repeated for the row itself, because another process may have taken it while this one waited
        // for the row's lock.
        try transaction.first(
            """
            UPDATE cuts SET holder = $2, due_at = $3
            WHERE (kind, gate_id, generation) = (
                SELECT kind, gate_id, generation FROM cuts WHERE \(Self.isFree)
                ORDER BY due_at, kind, gate_id, generation LIMIT 1)
                AND \(Self.isFree)
            RETURNING \(Self.columns)
            """,
            [.time(transaction.now), .text(holder), .time(transaction.now.addingTimeInterval(seconds))]
        ).map(Self.cut)
    }

    /// Extends the lease of a bulk revocation, and blocks others until the transaction ends; `nil` if another process
    /// has it.
    func hold(_ cut: BulkRevocation, by holder: String, for seconds: TimeInterval) throws -> BulkRevocation? {
        let end = transaction.now.addingTimeInterval(seconds)
        return try transaction.first(
            "UPDATE cuts SET due_at = $5 WHERE \(Self.isIt) AND holder = $4 RETURNING \(Self.columns)",
            Self.key(of: cut) + [.text(holder), .time(end)]
        ).map(Self.cut)
    }

    private static let merged = ColumnTuple(Column<Int64>("generation"), Column<Date>("at"), Column<Int64>("ended"))

    /// Merges free bulk revocations of the same scope and reason into a leased one, because the latest generation ends
    /// all of their sessions. A thousand log-outs of a user thus leave one row.
    func merge(into cut: BulkRevocation) throws -> BulkRevocation {
        let others = try transaction.query(
            """
            DELETE FROM cuts WHERE kind = $1 AND gate_id = $2 AND generation <> $3 AND why = $4 AND holder IS NULL
            RETURNING \(Self.merged)
            """, Self.key(of: cut) + [.text(cut.why.rawValue)]
        ).map(Self.merged.read)
        guard !others.isEmpty else { return cut }
        let all = others.reduce(into: (cut.generation, cut.at, cut.ended)) { all, other in
            all = (max(all.0, other.0), max(all.1, other.1), all.2 + other.2)
        }
        try transaction.execute(
            "UPDATE cuts SET generation = $4, at = $5, ended = $6 WHERE \(Self.isIt)",
            Self.key(of: cut) + [.integer(all.0), .time(all.1), .integer(all.2)])
        return BulkRevocation(scope: cut.scope, generation: all.0, why: cut.why, at: all.1, ended: all.2)
    }

    /// Stores how many sessions it has ended.
    func keep(_ cut: BulkRevocation) throws {
        try transaction.enqueue(
            "UPDATE cuts SET ended = $4 WHERE \(Self.isIt)", Self.key(of: cut) + [.integer(cut.ended)])
    }

    /// Stores how many sessions it has ended, and releases it from a time on.
    func giveBack(_ cut: BulkRevocation, until time: Date) throws {
        try transaction.enqueue(
            "UPDATE cuts SET ended = $4, holder = NULL, due_at = $5 WHERE \(Self.isIt)",
            Self.key(of: cut) + [.integer(cut.ended), .time(time)])
    }

    /// Deletes every bulk revocation, after all sessions have ended.
    func deleteAll() throws {
        try transaction.enqueue("DELETE FROM cuts", [])
    }

    /// Deletes a completed bulk revocation.
    func delete(_ cut: BulkRevocation) throws {
        try transaction.enqueue("DELETE FROM cuts WHERE \(Self.isIt)", Self.key(of: cut))
    }

    private static let isIt = "kind = $1 AND gate_id = $2 AND generation = $3"

    private static func key(of cut: BulkRevocation) -> [Value] {
        [.text(kind(of: cut.scope)), GenerationRepository.row(of: cut.scope).id, .integer(cut.generation)]
    }

    private static func kind(of scope: RevocationScope) -> String {
        switch scope {
        case .user: "user"
        case .device: "device"
        case .provider: "provider"
        case .providerKey: "provider_key"
        }
    }

    private static func cut(_ row: Row) throws -> BulkRevocation {
        let (kind, id, generation, why, at, ended) = try columns.read(row)
        let scope: RevocationScope? =
            switch kind {
            case "user": UserID(id[...]).map(RevocationScope.user)
            case "device": DeviceID(id[...]).map(RevocationScope.device)
            case "provider": ProviderID(id[...]).map(RevocationScope.provider)
            default: ProviderKeyID(id[...]).map(RevocationScope.providerKey)
            }
        guard let scope else { throw DamagedRow(column: 1) }
        guard let why = SessionEnding(rawValue: why) else { throw DamagedRow(column: 3) }
        return BulkRevocation(scope: scope, generation: generation, why: why, at: at, ended: ended)
    }
}
