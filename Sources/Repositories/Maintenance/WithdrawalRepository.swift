import Database
import Domain
import Foundation

/// Permissions that users have withdrawn from other users, for a store that replaces another one.
package struct WithdrawalRepository {
    private let transaction: any Transaction
}

package extension WithdrawalRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Every authorization that was rejected or withdrawn, or ended by a ban.
    func endedPermissions() throws -> [(id: AuthorizationID, state: MessagingPermission.State)] {
        let columns = ColumnTuple(Column<AuthorizationID>("id"), Column<MessagingPermission.State>("state"))
        return try transaction.query(
            """
            SELECT id, state FROM (
                SELECT id, \(PermissionRevocationRepository.state(of: "authorizations")) AS state FROM authorizations) AS found
            WHERE state IN ('REJECTED', 'CANCELLED', 'BANNED')
            """
        ).map(columns.read)
    }

    /// Ends an authorization as in the other store; `false` if it is unknown or has ended already.
    func end(_ id: AuthorizationID, as state: MessagingPermission.State) throws -> Bool {
        let records = AuthorizationRepository(transaction)
        guard var open = try records.find(id), open.state.isOpen else { return false }
        open.state = state
        try records.follow(open)
        return true
    }

    /// A block in the other store.
    struct Block: Sendable {
        fileprivate let blocker: UserID
        fileprivate let blocked: UserID
        fileprivate let at: Date
        fileprivate let authorization: AuthorizationID?
    }

    private static let blockColumns = ColumnTuple(
        Column<UserID>("blocker_id"), Column<UserID>("blocked_id"), Column<Date>("created_at"),
        Column<AuthorizationID?>("authorization_id"))

    func blocks() throws -> [Block] {
        try transaction.query("SELECT \(Self.blockColumns) FROM blocks").map(Self.blockColumns.read).map {
            Block(blocker: $0, blocked: $1, at: $2, authorization: $3)
        }
    }

    /// Blocks a user as in the other store; `false` if one of the two is unknown, or the block exists.
    func insert(_ block: Block) throws -> Bool {
        let inserted = try transaction.execute(
            """
            INSERT INTO blocks (\(Self.blockColumns))
            SELECT a.id, b.id, CAST($3 AS BIGINT), CAST($4 AS TEXT) FROM users a JOIN users b ON b.id = $2 WHERE a.id = $1
            ON CONFLICT (blocker_id, blocked_id) DO NOTHING
            """, Self.blockColumns.row(block.blocker, block.blocked, block.at, block.authorization))
        guard inserted > 0 else { return false }
        try AuthorizationRepository(transaction).hideRequests(askedBy: block.blocked, from: block.blocker)
        return true
    }

    /// All former members of streams.
    func formerMembers() throws -> [(user: UserID, stream: MessageStreamID, leftAt: Int64)] {
        let columns = ColumnTuple(
            Column<UserID>("user_id"), Column<MessageStreamID>("stream_id"), Column<Int64>("left_at_sequence"))
        return try transaction.query(
            "SELECT \(columns) FROM stream_members WHERE left_at_sequence IS NOT NULL"
        ).map(columns.read)
    }

    /// Removes a member as in the other store; `false` if the user is not a member here.
    ///
    /// - Parameter sequence: the last message that the member may read.
    func remove(_ user: UserID, from stream: MessageStreamID, at sequence: Int64) throws -> Bool {
        let members = StreamMemberRepository(transaction)
        guard let found = try MessageStreamRepository(transaction).find(stream),
            let member = try members.find(user, in: stream), member.leftAt == nil
        else { return false }
        try members.leave(user, stream, at: min(sequence, found.lastSequence))
        return true
    }

    /// An address by which a user can be found.
    struct FindableAddressKey: Sendable, Hashable {
        package let user: UserID
        package let type: AddressType
    }

    /// Every address by which a user can be found.
    func findableAddresses() throws -> Set<FindableAddressKey> {
        let columns = ColumnTuple(Column<UserID>("user_id"), Column<AddressType>("type"))
        return try Set(
            transaction.query("SELECT \(columns) FROM findable_addresses").map(columns.read)
                .map { FindableAddressKey(user: $0, type: $1) })
    }
}
