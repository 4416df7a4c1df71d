import Database
import Domain
import Encoding
import Foundation

/// Bulk revocations whose sessions must still be ended row by row. A process takes one, and others leave it alone until
/// it is released or its lease expires.
package struct CutRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<String>("kind"), Column<String>("gate_id"), Column<Int64>("generation"), Column<String>("why"),
        Column<Date>("at"), Column<Int64>("ended"))
    /// The maximum time by which `due_at` is ahead, in seconds. A later one is from a clock that was set back since.
    package static let patience: TimeInterval = 30
    private static let isFree = "(due_at <= $1 OR due_at > $1 + \(Int64(patience * 1000)) OR holder = $2)"

    /// Inserts a bulk revocation of the sessions before the current generation.
    package func insert(_ gate: SessionGate, _ why: SessionEnding) throws {
        let (table, id) = GateRepository.row(of: gate)
        try transaction.enqueue(
            """
            INSERT INTO cuts (\(Self.columns), due_at)
            SELECT '\(Self.kind(of: gate))', id, generation, $2, $3, 0, $3 FROM \(table) WHERE id = $1
            """, [id, .text(why.rawValue), .time(transaction.now)])
    }

    /// Whether a bulk revocation is free to take.
    package func isDue(to holder: String) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM cuts WHERE \(Self.isFree) LIMIT 1", [.time(transaction.now), .text(holder)]) != nil
    }

    /// Takes the longest waiting bulk revocation among those that are free; `nil` if there is none.
    ///
    /// - Parameter seconds: the length of the lease.
    package func take(by holder: String, for seconds: TimeInterval) throws -> SessionCut? {
        // The condition is repeated for the row itself, because it may have been taken while this waited for the row's
        // lock.
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
    package func hold(_ cut: SessionCut, by holder: String, for seconds: TimeInterval) throws -> SessionCut? {
        let end = transaction.now.addingTimeInterval(seconds)
        return try transaction.first(
            "UPDATE cuts SET due_at = $5 WHERE \(Self.isIt) AND holder = $4 RETURNING \(Self.columns)",
            Self.key(of: cut) + [.text(holder), .time(end)]
        ).map(Self.cut)
    }

    private static let merged = ColumnTuple(Column<Int64>("generation"), Column<Date>("at"), Column<Int64>("ended"))

    /// Merges free bulk revocations of the same scope and reason into a taken one, because the latest generation ends
    /// what all of them would. A thousand log-outs of a user thus leave one row.
    package func merge(into cut: SessionCut) throws -> SessionCut {
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
        return SessionCut(gate: cut.gate, generation: all.0, why: cut.why, at: all.1, ended: all.2)
    }

    /// Stores how many sessions it has ended.
    package func keep(_ cut: SessionCut) throws {
        try transaction.enqueue(
            "UPDATE cuts SET ended = $4 WHERE \(Self.isIt)", Self.key(of: cut) + [.integer(cut.ended)])
    }

    /// Stores how many sessions it has ended, and releases it from a time on.
    package func giveBack(_ cut: SessionCut, until time: Date) throws {
        try transaction.enqueue(
            "UPDATE cuts SET ended = $4, holder = NULL, due_at = $5 WHERE \(Self.isIt)",
            Self.key(of: cut) + [.integer(cut.ended), .time(time)])
    }

    /// Deletes every bulk revocation, after all sessions have ended.
    package func deleteAll() throws {
        try transaction.enqueue("DELETE FROM cuts", [])
    }

    /// Deletes a completed bulk revocation.
    package func delete(_ cut: SessionCut) throws {
        try transaction.enqueue("DELETE FROM cuts WHERE \(Self.isIt)", Self.key(of: cut))
    }

    private static let isIt = "kind = $1 AND gate_id = $2 AND generation = $3"

    private static func key(of cut: SessionCut) -> [Value] {
        [.text(kind(of: cut.gate)), GateRepository.row(of: cut.gate).id, .integer(cut.generation)]
    }

    private static func kind(of gate: SessionGate) -> String {
        switch gate {
        case .user: "user"
        case .device: "device"
        case .provider: "provider"
        case .providerKey: "provider_key"
        }
    }

    private static func cut(_ row: Row) throws -> SessionCut {
        let (kind, id, generation, why, at, ended) = try columns.read(row)
        let gate: SessionGate? =
            switch kind {
            case "user": UserID(id[...]).map(SessionGate.user)
            case "device": DeviceID(id[...]).map(SessionGate.device)
            case "provider": ProviderID(id[...]).map(SessionGate.provider)
            default: ProviderKeyID(id[...]).map(SessionGate.providerKey)
            }
        guard let gate else { throw DamagedRow(column: 1) }
        guard let why = SessionEnding(rawValue: why) else { throw DamagedRow(column: 3) }
        return SessionCut(gate: gate, generation: generation, why: why, at: at, ended: ended)
    }
}
