import Database
import Domain
import Foundation

/// Where the audit log begins, and the purging of what lies before that.
package struct AuditAnchorRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The anchor in force, under the number that it is filed with; `nil` where nothing was purged. A token that is no
    /// text comes empty.
    package func current() throws -> (sequence: Int64, token: String)? {
        try transaction.first("SELECT sequence, token FROM audit_anchors ORDER BY sequence DESC LIMIT 1").map {
            (try $0.integer(0), (try? $0.text(1)) ?? "")
        }
    }

    /// Files an anchor in place of the one before it, with which the checkpoints up to it go; `false` where the log was
    /// anchored there or further on meanwhile.
    package func file(_ anchor: AuditAnchor, token: String) throws -> Bool {
        // Takes the row that every sealer takes first.
        let isSigned = try transaction.execute(
            "UPDATE audit_head SET signed = signed WHERE id = 1 AND signed >= $1", [.integer(anchor.sequence)])
        guard isSigned == 1, try (current()?.sequence ?? 0) < anchor.sequence else { return false }
        try transaction.execute("DELETE FROM audit_anchors", [])
        try transaction.execute(
            "INSERT INTO audit_anchors (sequence, token) VALUES ($1, $2)", [.integer(anchor.sequence), .text(token)])
        try transaction.execute("DELETE FROM audit_checkpoints WHERE sequence <= $1", [.integer(anchor.sequence)])
        return true
    }

    /// Deletes some of the entries that the anchor in force covers.
    ///
    /// - Parameter limit: how many at most: it bounds how long other writers wait.
    /// - Returns: how many; 0 when none is left.
    package func deleteCovered(limit: Int) throws -> Int {
        try transaction.execute(
            """
            DELETE FROM audit_entries WHERE id IN (
                SELECT id FROM audit_entries WHERE sequence <= (SELECT MAX(sequence) FROM audit_anchors)
                ORDER BY sequence LIMIT $1)
            """, [Value(limit)])
    }

    /// The checkpoints behind an entry, oldest first.
    package func checkpoints(after sequence: Int64, limit: Int) throws -> [(sequence: Int64, token: String)] {
        try transaction.query(
            "SELECT sequence, token FROM audit_checkpoints WHERE sequence > $1 ORDER BY sequence LIMIT $2",
            [.integer(sequence), Value(limit)]
        ).map { (try $0.integer(0), (try? $0.text(1)) ?? "") }
    }
}
