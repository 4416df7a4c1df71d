import Database
import Domain
import Foundation

/// Bulk revocations that end all permissions and open requests of a user at once.
///
/// A user has at most one, with a generation that only rises. An authorization contains the generations of its two
/// users at its start. If one has risen since, the authorization has ended (``state(of:)``). Rows are updated in
/// batches.
package struct PermissionRevocationRepository {
    private let transaction: any Transaction
    /// How long rows are searched again that an earlier transaction may still add, in seconds.
    static let patience: TimeInterval = 30

    /// The state of an authorization, including bulk revocations and erasures that its row does not show yet. A request
    /// that expired before the revocation stays expired.
    ///
    /// - Parameter table: the statement's name for `authorizations`.
    static func state(of table: String) -> String {
        func cut(_ side: String) -> String {
            """
            (SELECT c.state FROM permission_cuts c
             WHERE c.user_id = \(table).\(side)_id AND c.generation > \(table).\(side)_generation
                AND (\(table).state = 'APPROVAL' OR \(table).expires_at > c.at))
            """
        }
        let erased = """
            CASE WHEN \(ErasureRepository.isUnderWay("\(table).asker_id"))
                    OR (\(table).state = 'APPROVAL' AND \(ErasureRepository.isUnderWay("\(table).accepter_id")))
                THEN 'CANCELLED' END
            """
        return """
            CASE WHEN \(table).state IN ('REQUEST', 'APPROVAL')
                THEN COALESCE(\(cut("asker")), \(cut("accepter")), \(erased), \(table).state) ELSE \(table).state END
            """
    }

    /// The current generation of a user, for a new authorization.
    ///
    /// - Parameter user: an expression, which may be null.
    static func generation(of user: String) -> String {
        "COALESCE((SELECT c.generation FROM permission_cuts c WHERE c.user_id = \(user)), 0)"
    }

    /// Ends all authorizations of a user: one row for the revocation, and some rows of authorizations.
    ///
    /// - Parameter state: `.banned` or `.cancelled`.
    func cut(_ user: UserID, because state: MessagingPermission.State, at time: Date) throws {
        let generation: Int64? = try transaction.value(
            """
            INSERT INTO permission_cuts (\(Self.columns), due_at)
            SELECT id, 1, $2, $3, $3 FROM users WHERE id = $1
            ON CONFLICT (user_id) DO UPDATE SET generation = permission_cuts.generation + 1, state = excluded.state,
                at = excluded.at, due_at = excluded.due_at
            RETURNING generation
            """, [.id(user), state.value, .time(time)])
        guard let generation else { return }
        try end(Cut(user: user, generation: generation, state: state, at: time), limit: Self.atOnce)
    }
}

package extension PermissionRevocationRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The number of rows of each side that end in the same transaction.
    static let atOnce = 50

    private static let columns = ColumnTuple(
        Column<UserID>("user_id"), Column<Int64>("generation"), Column<MessagingPermission.State>("state"),
        Column<Date>("at"))
    /// The condition of the partial indexes: both engines use one only if a statement repeats it.
    private static let isOpen = "state IN ('REQUEST', 'APPROVAL')"

    private struct Cut {
        let user: UserID
        let generation: Int64
        let state: MessagingPermission.State
        let at: Date
    }

    /// Updates rows of the revocation that has waited longest.
    func carryOut(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let found = try transaction.first(
            "SELECT \(Self.columns) FROM permission_cuts WHERE due_at IS NOT NULL AND due_at <= $1 ORDER BY due_at LIMIT 1",
            [.time(transaction.now)]
        ).map { row in
            let (user, generation, state, at) = try Self.columns.read(row)
            return Cut(user: user, generation: generation, state: state, at: at)
        }
        guard let cut = found else { return .all(0) }
        let count = try end(cut, limit: max(1, batch.limit / 2))
        if count == 0 {
            let last = cut.at.addingTimeInterval(Self.patience)
            try transaction.execute(
                "UPDATE permission_cuts SET due_at = $3 WHERE user_id = $1 AND generation = $2",
                [.id(cut.user), .integer(cut.generation), .time(transaction.now < last ? last : nil)])
        }
        return MaintenanceBatch.Outcome(rows: count, isFinished: false)
    }

    /// Updates some rows of each side.
    @discardableResult
    private func end(_ cut: Cut, limit: Int) throws -> Int {
        var count = 0
        for (id, generation) in [("asker_id", "asker_generation"), ("accepter_id", "accepter_generation")] {
            let ended: [AuthorizationID] = try transaction.values(
                """
                UPDATE authorizations SET state = $4, changed_at = $3 WHERE \(Self.isOpen) AND id IN (
                    SELECT id FROM authorizations
                    WHERE \(id) = $1 AND \(Self.isOpen) AND \(generation) < $2
                        AND (state = 'APPROVAL' OR expires_at > $3)
                    LIMIT \(limit))
                RETURNING id
                """, [.id(cut.user), .integer(cut.generation), .time(cut.at), cut.state.value])
            let rows = AuthorizationRowRepository(transaction)
            for id in ended {
                try rows.insert(
                    AuthorizationRow(
                        authorizationID: id, type: cut.state, at: cut.at, recipientID: nil, isSent: nil))
            }
            count += ended.count
        }
        return count
    }
}
