import Database
import Domain
import Encoding
import Foundation

/// Authorizations between users: one row here for the current state, one of ``AuthorizationRowRepository`` for each
/// state that it entered.
package struct AuthorizationRepository {
    let transaction: any Transaction

    /// Whether it is a permission, or can still become one, at the time `$2`.
    static let isOpen = "(state = 'APPROVAL' OR (state = 'REQUEST' AND expires_at > $2))"
}

package extension AuthorizationRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<MessagingPermission>(
        "authorizations", MessagingPermission.init,
        Field("id", \.id),
        Field("provider_id", \.providerID),
        Field("asker_id", \.requesterID) { hidden("asker_id", in: $0, "asker_id") },
        Field("accepter_id", \.recipientID) { hidden("accepter_id", in: $0, "accepter_id") },
        Field("target", \.target),
        Field("is_delivered", \.isDelivered) { "COALESCE(\(hidden("is_delivered", in: $0, "accepter_id")), 0)" },
        Field("state", \.state, readAs: PermissionRevocationRepository.state),
        Field("created_at", \.createdAt),
        Field("expires_at", \.expiresAt),
        Field("changed_at", \.changedAt),
        Field(.authorizationTo, \.sealedTo) { hidden(SealedColumn.authorizationTo.name, in: $0, "asker_id") },
        Field(.authorizationEvent, \.sealedEvent) { hidden(SealedColumn.authorizationEvent.name, in: $0, "asker_id") },
        Field("replaced_by", \.replacedBy))

    /// A column that hides a user who is being erased.
    private static func hidden(_ column: String, in table: String, _ side: String) -> String {
        ErasureRepository.hidden("\(table).\(column)", of: "\(table).\(side)")
    }
    /// Whether the stored state is open, regardless of bulk revocations.
    private static let isStoredOpen = "state IN ('REQUEST', 'APPROVAL')"
    private static let insertion = columns.insertion(
        with: "asker_generation", "accepter_generation", as: PermissionRevocationRepository.generation)

    /// Inserts a new request with its row; `false` if the id is taken, or another is open to the same target.
    func insert(_ authorization: MessagingPermission) throws -> Bool {
        let inserted = try transaction.execute(
            "\(Self.insertion) ON CONFLICT DO NOTHING",
            Self.columns.row(authorization, authorization.requesterID.value, authorization.recipientID.value))
        guard inserted > 0 else { return false }
        try AuthorizationRowRepository(transaction).insert(AuthorizationRow(of: authorization))
        return true
    }

    /// The authorization with an id; `nil` if there is none.
    func find(_ id: AuthorizationID) throws -> MessagingPermission? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// Stores an authorization's new state with the row for it; `false` if its state has changed since it was read.
    func move(_ moved: MessagingPermission, from before: MessagingPermission.State) throws -> Bool {
        let changed = try transaction.execute(
            "UPDATE authorizations SET state = $2, changed_at = $3, replaced_by = $5 WHERE id = $1 AND state = $4",
            [.id(moved.id), moved.state.value, .time(moved.changedAt), before.value, moved.replacedBy.value])
        guard changed > 0 else { return false }
        try AuthorizationRowRepository(transaction).insert(AuthorizationRow(of: moved))
        return true
    }

    /// The authorizations that may forbid a new request: open ones to the same recipient by either name, those that the
    /// recipient declined since a time, and a permission that the recipient requested.
    ///
    /// - Parameter targets: the digests of the recipient's address, one for each version of the key.
    func between(
        _ requester: UserID, and recipient: UserID?, targets: [Digest256], declinedSince: Date
    ) throws -> [MessagingPermission] {
        var found: [MessagingPermission] = []
        for target in targets {
            found += try transaction.query(
                Self.columns,
                """
                WHERE asker_id = $1 AND (target = $2 OR accepter_id = $3)
                    AND (state IN ('REQUEST', 'APPROVAL') OR (state = 'REJECTED' AND changed_at > $4))
                """,
                [.id(requester), target.value, .text(recipient?.description ?? ""), .time(declinedSince)])
        }
        guard let recipient else { return found }
        return found + (try permissions(askedBy: recipient, of: requester))
    }

    /// The permissions that one user requested and the other gave.
    func permissions(askedBy requester: UserID, of recipient: UserID) throws -> [MessagingPermission] {
        try storedOpen(askedBy: requester, of: recipient).filter { $0.state == .approval }
    }

    /// The authorizations of two users whose stored state is open, in either direction. A bulk revocation may have ended
    /// some of them: their state says so.
    func storedOpen(between one: UserID, and other: UserID) throws -> [MessagingPermission] {
        try storedOpen(askedBy: one, of: other) + storedOpen(askedBy: other, of: one)
    }

    private func storedOpen(askedBy requester: UserID, of recipient: UserID) throws -> [MessagingPermission] {
        try transaction.query(
            Self.columns, "WHERE accepter_id = $1 AND asker_id = $2 AND \(Self.isStoredOpen)",
            [.id(recipient), .id(requester)])
    }

    private static let between = ColumnTuple(
        Column<UserID?>("asker_id"), Column<UserID?>("accepter_id"),
        Column<MessagingPermission.State>(PermissionRevocationRepository.state(of: "authorizations")))
    private static let askedOfSome = ListStatement(after: 1) { list in
        """
        SELECT \(between) FROM authorizations
        WHERE asker_id = $1 AND accepter_id IN \(list.in) AND state = 'APPROVAL'
        """
    }
    private static let askedBySome = ListStatement(after: 1) { list in
        """
        SELECT \(between) FROM authorizations
        WHERE accepter_id = $1 AND asker_id IN \(list.in) AND state = 'APPROVAL'
        """
    }

    /// The users among some that have a permission with a user, in either direction.
    func permitted(with user: UserID, among others: [UserID]) throws -> Set<UserID> {
        let rows = try [Self.askedOfSome, Self.askedBySome].flatMap {
            try transaction.query($0, [.id(user)], list: others.map(\.value))
        }
        return try rows.reduce(into: []) { found, row in
            let (asker, accepter, state) = try Self.between.read(row)
            guard state == .approval, let other = asker == user ? accepter : asker else { return }
            found.insert(other)
        }
    }

    /// The time of the oldest of a user's newest `count` requests; `nil` if there are fewer since a time.
    func oldest(ofNewest count: Int, askedBy user: UserID, since moment: Date) throws -> Date? {
        try transaction.value(
            """
            SELECT created_at FROM authorizations WHERE asker_id = $1 AND created_at > $2
            ORDER BY created_at DESC LIMIT 1 OFFSET $3
            """, [.id(user), .time(moment), max(0, count - 1).value])
    }

    /// A user's authorizations after a mark, newest first. An index finds them, so the cost of a page depends on its
    /// size only.
    ///
    /// - Parameters:
    ///   - box: those that the user requested, or those requested of the user that may be seen.
    ///   - state: the effective state; `nil` for all.
    func list(
        of user: UserID, box: MessagingPermission.Box, state: MessagingPermission.State?,
        after mark: (at: Date, id: AuthorizationID)? = nil, limit: Int
    ) throws -> [MessagingPermission] {
        let side =
            switch box {
            case .outgoing: "asker_id = $1"
            case .incoming: "accepter_id = $1 AND is_delivered = 1"
            }
        return try transaction.query(
            Self.columns,
            """
            WHERE \(side) AND (created_at, id) < ($2, $3)
                AND ($4 = ''
                    OR CASE WHEN state = 'REQUEST' AND expires_at <= $5 THEN 'EXPIRED'
                        ELSE \(PermissionRevocationRepository.state(of: "authorizations")) END = $4)
            ORDER BY created_at DESC, id DESC LIMIT $6
            """,
            [
                .id(user), mark.map { .time($0.at) } ?? .integer(.max), .text(mark?.id.description ?? ""),
                .text(state?.rawValue ?? ""), .time(transaction.now), Value(limit),
            ])
    }

    /// The maximum number of a user's authorizations that are counted.
    static let countLimit = 1000

    /// The number of a user's permissions and open requests, on either side, up to ``countLimit``.
    func countOpen(of user: UserID) throws -> Int {
        try transaction.value(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM authorizations
                WHERE (asker_id = $1 OR accepter_id = $1) AND \(Self.isOpen)
                    AND NOT \(ErasureRepository.isUnderWay("$1"))
                    AND \(PermissionRevocationRepository.state(of: "authorizations")) IN ('REQUEST', 'APPROVAL')
                LIMIT \(Self.countLimit)) AS found
            """, [.id(user), .time(transaction.now)]) ?? 0
    }

    /// Ends all permissions and open requests of a user, on both sides, by one row. Most rows of authorizations are
    /// updated later.
    ///
    /// - Parameter state: the final state: `.banned` in the transaction that bans the user, or `.cancelled`.
    /// - Returns: how many ended, up to ``countLimit``.
    @discardableResult
    func withdraw(allOf user: UserID, because state: MessagingPermission.State, at time: Date) throws -> Int {
        let count = try countOpen(of: user)
        try PermissionRevocationRepository(transaction).cut(user, because: state, at: time)
        return count
    }

    /// Stores the state of an authorization that a bulk revocation ended, so that the two users may have another one.
    func follow(_ ended: MessagingPermission) throws {
        guard
            try transaction.execute(
                "UPDATE authorizations SET state = $2, changed_at = $3 WHERE id = $1 AND \(Self.isStoredOpen)",
                [.id(ended.id), ended.state.value, .time(transaction.now)]) > 0
        else { return }
        try enter(ended.state, [ended.id], at: transaction.now)
    }

    /// Stores that unanswered requests have expired.
    ///
    /// - Parameters:
    ///   - user: the requester; `nil` for all users.
    ///   - limit: the largest number: it limits how long other writers wait.
    /// - Returns: how many.
    @discardableResult
    func expire(askedBy user: UserID? = nil, limit: Int) throws -> Int {
        // Two statements, because a common one would scan the requests of all users for a single user.
        let whose = user == nil ? "" : " AND asker_id = $2"
        let ended: [AuthorizationID] = try transaction.values(
            """
            UPDATE authorizations SET state = 'EXPIRED', changed_at = expires_at
            WHERE state = 'REQUEST' AND id IN (
                SELECT id FROM authorizations WHERE state = 'REQUEST' AND expires_at <= $1\(whose)
                ORDER BY expires_at LIMIT \(limit))
            RETURNING id
            """, [.time(transaction.now)] + (user.map { [.id($0)] } ?? []))
        try enter(.expired, ended, at: transaction.now)
        return ended.count
    }

    private static let ended = AgedRows(
        of: "authorizations", key: "id", age: "changed_at", and: "state NOT IN ('REQUEST', 'APPROVAL')")

    /// Deletes authorizations that ended before a time, with the rows of their states.
    @discardableResult
    func purge(
        endedBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.ended.take(before: moment, batch, in: transaction)
    }

    /// Hides a user's unanswered requests from the recipient permanently. The requester sees them unchanged.
    func hideRequests(askedBy requester: UserID, from recipient: UserID) throws {
        try transaction.execute(
            """
            UPDATE authorization_rows SET recipient_id = NULL, sent = NULL, message_id = NULL
            WHERE type = 'REQUEST' AND sent = 0 AND authorization_id IN (
                SELECT id FROM authorizations WHERE asker_id = $1 AND accepter_id = $2 AND state = 'REQUEST')
            """, [.id(requester), .id(recipient)])
        try transaction.execute(
            """
            UPDATE authorizations SET is_delivered = 0
            WHERE asker_id = $1 AND accepter_id = $2 AND state = 'REQUEST'
            """, [.id(requester), .id(recipient)])
    }

    private func enter(_ state: MessagingPermission.State, _ ended: [AuthorizationID], at time: Date) throws {
        let rows = AuthorizationRowRepository(transaction)
        for id in ended {
            try rows.insert(
                AuthorizationRow(authorizationID: id, type: state, at: time, recipientID: nil, isSent: nil))
        }
    }
}
