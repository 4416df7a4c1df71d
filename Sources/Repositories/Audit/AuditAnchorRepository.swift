import Database
import Domain
import Foundation

/// The anchor at which the audit log begins, and the deletion of the entries before it.
package struct AuditAnchorRepository {
    private let transaction: any Transaction

    /// The columns of `audit_anchors` and `audit_checkpoints`: signed tokens by the number of the last entry.
    static let tokens = ColumnTuple(Column<Int64>("sequence"), Column<String>("token"))

    /// A token with its number. A token that is not valid text is returned empty.
    static func token(_ row: Row) throws -> (sequence: Int64, token: String) {
        let (sequence, token) = try readable.read(row)
        return (sequence, token ?? "")
    }
}

package extension AuditAnchorRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }
    private static let readable = ColumnTuple(Column<Int64>("sequence"), Column<String>("token").ifReadable)

    /// The current anchor and its entry's number; `nil` if nothing was purged. A token that is not valid text is
    /// returned empty.
    func current() throws -> (sequence: Int64, token: String)? {
        try transaction.first("SELECT \(Self.tokens) FROM audit_anchors ORDER BY sequence DESC LIMIT 1")
            .map(Self.token)
    }

    /// Replaces the anchor, and deletes the checkpoints up to it; `false` if the log was anchored there or later
    /// meanwhile.
    func file(_ anchor: AuditAnchor, token: String) throws -> Bool {
        // Locks the row that every sealer locks first.
        let isSigned = try transaction.execute(
            "UPDATE audit_head SET signed = signed WHERE id = 1 AND signed >= $1", [.integer(anchor.sequence)])
        guard isSigned == 1, try (current()?.sequence ?? 0) < anchor.sequence else { return false }
        try transaction.execute("DELETE FROM audit_anchors", [])
        try transaction.execute(
            "INSERT INTO audit_anchors (\(Self.tokens)) VALUES (\(Self.tokens.placeholders))",
            Self.tokens.row(anchor.sequence, token))
        try transaction.execute("DELETE FROM audit_checkpoints WHERE sequence <= $1", [.integer(anchor.sequence)])
        return true
    }

    /// Deletes some of the entries that the current anchor covers. Their numbers are consecutive, so a batch is a
    /// range.
    func deleteCovered(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let anchored: Int64?? = try transaction.value("SELECT MAX(sequence) FROM audit_anchors", as: Int64?.self)
        guard let last = anchored ?? nil else { return .all(0) }
        let after = batch.after.flatMap { Int64($0) } ?? .min
        let next: Int64?? = try transaction.value(
            "SELECT MIN(sequence) FROM audit_entries WHERE sequence > $1", [.integer(after)], as: Int64?.self)
        guard let first = next ?? nil, first <= last else { return .all(0) }
        let (sum, isBeyond) = first.addingReportingOverflow(Int64(max(1, batch.limit) - 1))
        let end = isBeyond ? last : min(sum, last)
        let rows = try transaction.execute(
            "DELETE FROM audit_entries WHERE sequence >= $1 AND sequence <= $2", [.integer(first), .integer(end)])
        return MaintenanceBatch.Outcome(rows: rows, reached: String(end), isFinished: end >= last)
    }

    /// The checkpoints after an entry, oldest first.
    func checkpoints(after sequence: Int64, limit: Int) throws -> [(sequence: Int64, token: String)] {
        try transaction.query(
            "SELECT \(Self.tokens) FROM audit_checkpoints WHERE sequence > $1 ORDER BY sequence LIMIT $2",
            [sequence.value, limit.value]
        ).map(Self.token)
    }
}
