import Database
import Domain
import Encoding
import Foundation

/// Counts of the rows of each kind.
package struct StatusRepository {
    private let transaction: any Transaction
}

package extension StatusRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Counts all rows in this transaction.
    ///
    /// - Parameter most: the maximum number of rows to read.
    /// - Returns: `nil` if there are more.
    func counts(policy: SessionPolicy, atMost most: Int) throws -> StoreCounts? {
        var (counts, rows) = (StoreCounts(), 0)
        while !counts.isWhole {
            rows += try count(&counts, policy: policy, limit: min(Self.page, max(1, most)))
            guard rows <= most else { return nil }
        }
        return counts
    }

    /// The number of rows that one statement reads.
    static let page = 5000

    /// Counts the next page.
    ///
    /// - Returns: its number of rows.
    func count(_ counts: inout StoreCounts, policy: SessionPolicy, limit: Int) throws -> Int {
        guard let place = counts.place else { return 0 }
        let counted = kinds(of: place.table, policy)
        let key = place.table.key
        let page = ColumnTuple(Column<Int>("COUNT(*)"), Column<String>("COALESCE(MAX(page.\(key)), '')"))
        let sums = counted.kinds.map { ", COALESCE(SUM(CASE WHEN \($0.condition) THEN 1 ELSE 0 END), 0)" }.joined()
        let columns = ([key] + counted.columns).joined(separator: ", ")
        let row = try transaction.first(
            """
            SELECT \(page)\(sums)
            FROM (
                SELECT \(columns) FROM \(place.table.rawValue) WHERE \(key) > $1 ORDER BY \(key) LIMIT \(limit)
            ) AS page
            """, [.text(place.after)] + counted.arguments)
        guard let row else { return 0 }
        let (rows, last) = try page.read(row)
        let found: [(name: String, count: Int)] = try counted.kinds.enumerated().map { index, kind in
            (name: kind.name, count: Int(clamping: try row.integer(index + 2)))
        }
        counts.add(found, last: rows < limit ? nil : last)
        return rows
    }

    private struct Counted {
        /// The columns of the conditions.
        let columns: [String]
        let kinds: [(name: String, condition: String)]
        /// The arguments for `$2` and later parameters.
        let arguments: [Value]
    }

    private func kinds(of table: StoreCounts.Table, _ policy: SessionPolicy) -> Counted {
        let now = Value.time(transaction.now)
        switch table {
        case .sessions: return sessions(policy)
        case .users:
            let level = "CASE WHEN assurance <> 'none' AND assurance_until <= $2 THEN 'phone' ELSE assurance END"
            return Counted(
                columns: ["assurance", "assurance_until"],
                kinds: Assurance.allCases.map { ($0.rawValue, "\(level) = '\($0.rawValue)'") }, arguments: [now])
        case .devices: return Counted(columns: [], kinds: [("all", "1 = 1")], arguments: [])
        case .certificates:
            return Counted(
                columns: ["revoked_at", "not_after"],
                kinds: [
                    ("valid", "revoked_at IS NULL AND not_after > $2"), ("revoked", "revoked_at IS NOT NULL"),
                    ("expired", "revoked_at IS NULL AND not_after <= $2"),
                ], arguments: [now])
        case .outbox:
            return Counted(
                columns: ["state"],
                kinds: OutboxMessage.State.allCases.map { ($0.rawValue, "state = '\($0.rawValue)'") },
                arguments: [])
        }
    }

    /// The active sessions, and those that must be renewed first: `Session/effectiveState(at:policy:)` as conditions.
    /// They include sessions that a bulk revocation has ended until their rows are updated: see ``cuts()``.
    private func sessions(_ policy: SessionPolicy) -> Counted {
        let now = transaction.now.milliseconds
        func ago(_ seconds: TimeInterval) -> Value { .integer(now - Int64((seconds * 1000).rounded())) }
        let shift = Value.integer(Int64(((policy.absoluteLifetime - policy.idleLifetime) * 1000).rounded()))
        return Counted(
            columns: ["state", "renewed_at", "last_used_at", "challenged_at"],
            kinds: [
                ("authenticated", "state = 'authenticated' AND renewed_at > $2 AND last_used_at > $3"),
                (
                    "challenged",
                    """
                    state = 'challenged' AND challenged_at > $4 OR state = 'authenticated' AND last_used_at <= $3
                    AND last_used_at < renewed_at + $5 AND last_used_at > $6
                    """
                ),
            ],
            arguments: [
                ago(policy.absoluteLifetime), ago(policy.idleLifetime), ago(policy.renewalWindow), shift,
                ago(policy.idleLifetime + policy.renewalWindow),
            ])
    }

    /// The bulk revocations whose sessions' rows are not all updated.
    func cuts() throws -> Int { try count("SELECT COUNT(*) FROM cuts", []) }

    /// The numbers of enabled and disabled providers.
    func providers() throws -> (enabled: Int, disabled: Int) {
        (
            try count("SELECT COUNT(*) FROM providers WHERE disabled_at IS NULL", []),
            try count("SELECT COUNT(*) FROM providers WHERE disabled_at IS NOT NULL", [])
        )
    }

    private func count(_ sql: String, _ arguments: [Value]) throws -> Int {
        try transaction.value(sql, arguments) ?? 0
    }
}

extension StoreCounts.Table {
    /// The key that gives the order in which its rows are counted.
    fileprivate var key: String {
        switch self {
        case .certificates: "serial"
        case .sessions, .users, .devices, .outbox: "id"
        }
    }
}
