import Database
import Domain
import Foundation

/// The users that a user blocks.
package struct BlockRepository {
    private let transaction: any Transaction
}

package extension BlockRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<UserID>("blocker_id"), Column<UserID>("blocked_id"), Column<Date>("created_at"),
        Column<AuthorizationID?>("authorization_id"))

    /// Stores a block, unless it exists.
    ///
    /// - Parameter authorization: the authorization by which the blocker named its requester; `nil` if the blocker knows
    ///   the user's id.
    /// - Returns: `false` if the user has `limit` blocks already, and this is not among them.
    func insert(
        _ blocker: UserID, blocks blocked: UserID, namedBy authorization: AuthorizationID? = nil, at time: Date,
        limit: Int = .max
    ) throws -> Bool {
        let held: Int =
            try transaction.value(
                "SELECT COUNT(*) FROM (SELECT 1 FROM blocks WHERE blocker_id = $1 LIMIT $2) AS held",
                [.id(blocker), limit.value]) ?? 0
        if held >= limit { return try holds(blocker, blocks: blocked) }
        try transaction.execute(
            """
            INSERT INTO blocks (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (blocker_id, blocked_id) DO NOTHING
            """, Self.columns.row(blocker, blocked, time, authorization))
        return true
    }

    /// Deletes a block, if it exists.
    func delete(_ blocker: UserID, blocks blocked: UserID) throws {
        try transaction.execute(
            "DELETE FROM blocks WHERE blocker_id = $1 AND blocked_id = $2", [.id(blocker), .id(blocked)])
    }

    /// Deletes the block of an authorization's requester, if it exists.
    func delete(_ blocker: UserID, blocksRequesterOf authorization: AuthorizationID) throws {
        try transaction.execute(
            """
            DELETE FROM blocks WHERE blocker_id = $1 AND (authorization_id = $2
                OR blocked_id = (SELECT asker_id FROM authorizations WHERE id = $2 AND accepter_id = $1))
            """, [.id(blocker), .id(authorization)])
    }

    func holds(_ blocker: UserID, blocks blocked: UserID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM blocks WHERE blocker_id = $1 AND blocked_id = $2", [.id(blocker), .id(blocked)]) != nil
    }

    private static let blockedOfSome = ListStatement(after: 1) {
        "SELECT blocked_id FROM blocks WHERE blocker_id = $1 AND blocked_id IN \($0.in)"
    }
    private static let blockersOfSome = ListStatement(after: 1) {
        "SELECT blocker_id FROM blocks WHERE blocked_id = $1 AND blocker_id IN \($0.in)"
    }

    /// The users among some that a user blocks, or that block the user.
    func blocked(with user: UserID, among others: [UserID]) throws -> Set<UserID> {
        let rows = try [Self.blockedOfSome, Self.blockersOfSome].flatMap {
            try transaction.query($0, [.id(user)], list: others.map(\.value))
        }
        return Set(try rows.map { try UserID.read($0, 0) })
    }

    /// The users whom a user blocks by their ids, oldest block first.
    func list(of blocker: UserID) throws -> [UserID] {
        try transaction.values(
            """
            SELECT blocked_id FROM blocks WHERE blocker_id = $1 AND authorization_id IS NULL
            ORDER BY created_at, blocked_id
            """, [.id(blocker)])
    }

    /// The authorizations whose requesters a user blocks without knowing their ids, oldest block first.
    func listAuthorizations(of blocker: UserID) throws -> [AuthorizationID] {
        try transaction.values(
            """
            SELECT authorization_id FROM blocks WHERE blocker_id = $1 AND authorization_id IS NOT NULL
            ORDER BY created_at, authorization_id
            """, [.id(blocker)])
    }

    /// Deletes a user's own blocks. Other users' blocks of the user stay.
    func erase(_ blocker: UserID) throws {
        try transaction.execute("DELETE FROM blocks WHERE blocker_id = $1", [.id(blocker)])
    }
}
