import Database
import Domain
import Foundation

/// The rows of the product's `u2uAuthorizations`: a row for each state that an authorization entered, under the
/// authorization's id, with the mark that says whether its person was told.
package struct AuthorizationRowRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = "authorization_id, type, at, recipient_id, sent"

    /// Writes a row; an authorization enters each state once.
    package func insert(_ row: AuthorizationRow) throws {
        try transaction.execute(
            """
            INSERT INTO authorization_rows (\(Self.columns)) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (authorization_id, type) DO NOTHING
            """,
            [
                .id(row.authorizationID), .text(row.type.rawValue), .time(row.at),
                .optional(row.recipientID?.description), Value(row.isSent),
            ])
    }

    /// The rows of an authorization, oldest first.
    package func list(of id: AuthorizationID) throws -> [AuthorizationRow] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM authorization_rows WHERE authorization_id = $1
            ORDER BY at, CASE type WHEN 'REQUEST' THEN 0 WHEN 'APPROVAL' THEN 1 WHEN 'REJECTED' THEN 1 ELSE 2 END
            """, [.id(id)]
        ).map(Self.row)
    }

    /// The row that a message of the outbox is to tell somebody of; `nil` where it was told, or is no longer to be.
    package func find(queuedAs message: OutboxMessageID) throws -> AuthorizationRow? {
        try transaction.first(
            "SELECT \(Self.columns) FROM authorization_rows WHERE message_id = $1 AND sent = 0", [.id(message)]
        ).map(Self.row)
    }

    /// The rows that a user was not told of and that no message tells of, oldest first.
    package func unsent(to user: UserID, limit: Int) throws -> [AuthorizationRow] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM authorization_rows
            WHERE recipient_id = $1 AND sent = 0 AND message_id IS NULL ORDER BY at LIMIT $2
            """, [.id(user), Value(limit)]
        ).map(Self.row)
    }

    /// Notes the message that tells of a row; `false` where there is one already, or nobody to tell.
    package func queue(_ row: AuthorizationRow, as message: OutboxMessageID) throws -> Bool {
        try transaction.execute(
            """
            UPDATE authorization_rows SET message_id = $3
            WHERE authorization_id = $1 AND type = $2 AND sent = 0 AND message_id IS NULL
            """, [.id(row.authorizationID), .text(row.type.rawValue), .id(message)]) > 0
    }

    /// Marks the row of a message as sent.
    package func markSent(_ message: OutboxMessageID) throws {
        try transaction.execute("UPDATE authorization_rows SET sent = 1 WHERE message_id = $1", [.id(message)])
    }

    /// The message told nobody: another one may.
    package func release(_ message: OutboxMessageID) throws {
        try transaction.execute(
            "UPDATE authorization_rows SET message_id = NULL WHERE message_id = $1 AND sent = 0", [.id(message)])
    }

    private static func row(_ row: Row) throws -> AuthorizationRow {
        let recipient: UserID? = try row.textOrNull(3) == nil ? nil : row.id(3)
        return AuthorizationRow(
            authorizationID: try row.id(0), type: try row.word(1), at: try row.time(2), recipientID: recipient,
            isSent: try row.integerOrNull(4).map { $0 != 0 })
    }
}
