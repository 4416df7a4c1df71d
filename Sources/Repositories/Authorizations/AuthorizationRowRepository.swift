import Database
import Domain
import Foundation

/// The rows of the product's `u2uAuthorizations`: a row for each state that an authorization entered, under the
/// authorization's id. Each row has a mark whether its user was notified.
package struct AuthorizationRowRepository {
    private let transaction: any Transaction

    /// Inserts a row; an authorization enters each state once. It is enqueued, because a ban may write thousands.
    func insert(_ row: AuthorizationRow) throws {
        try transaction.enqueue(
            "\(Self.columns.insertion) ON CONFLICT (authorization_id, type) DO NOTHING", Self.columns.row(row))
    }
}

package extension AuthorizationRowRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// `message_id` is written when a row is queued.
    private static let columns = Table<AuthorizationRow>(
        "authorization_rows", AuthorizationRow.init,
        Field("authorization_id", \.authorizationID),
        Field("type", \.type),
        Field("at", \.at),
        Field("recipient_id", \.recipientID),
        Field("sent", \.isSent))

    /// The rows of an authorization, oldest first.
    func list(of id: AuthorizationID) throws -> [AuthorizationRow] {
        try transaction.query(
            Self.columns,
            """
            WHERE authorization_id = $1
            ORDER BY at, CASE type WHEN 'REQUEST' THEN 0 WHEN 'APPROVAL' THEN 1 WHEN 'REJECTED' THEN 1 ELSE 2 END
            """, [.id(id)])
    }

    /// The row of an authorization for a state.
    func find(_ id: AuthorizationID, _ type: MessagingPermission.State) throws -> AuthorizationRow? {
        try transaction.first(Self.columns, "WHERE authorization_id = $1 AND type = $2", [.id(id), type.value])
    }

    /// The rows without a notification and without a queued message for it, oldest first.
    func unsent(to user: UserID, limit: Int) throws -> [AuthorizationRow] {
        try transaction.query(
            Self.columns, "WHERE recipient_id = $1 AND sent = 0 AND message_id IS NULL ORDER BY at LIMIT $2",
            [.id(user), Value(limit)])
    }

    /// Stores the message of the first device for a row; `false` if it has one already, or there is no user to notify.
    func queue(_ row: AuthorizationRow, as message: OutboxMessageID) throws -> Bool {
        try transaction.execute(
            """
            UPDATE authorization_rows SET message_id = $3
            WHERE authorization_id = $1 AND type = $2 AND sent = 0 AND message_id IS NULL
            """, [.id(row.authorizationID), row.type.value, .id(message)]) > 0
    }

    /// Marks a row as sent: a device of its user has the notification.
    func markSent(_ id: AuthorizationID, _ type: MessagingPermission.State) throws {
        try transaction.execute(
            "UPDATE authorization_rows SET sent = 1 WHERE authorization_id = $1 AND type = $2 AND sent = 0",
            [.id(id), type.value])
    }

    /// Releases a row whose message was not delivered, so that another one can be queued.
    func release(_ id: AuthorizationID, _ type: MessagingPermission.State) throws {
        try transaction.execute(
            "UPDATE authorization_rows SET message_id = NULL WHERE authorization_id = $1 AND type = $2 AND sent = 0",
            [.id(id), type.value])
    }
}
