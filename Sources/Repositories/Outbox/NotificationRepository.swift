import Database
import Domain
import Encoding
import Foundation

/// Providers' notifications to users, which wait in the outbox for the users' devices, sealed under the user's key.
package struct NotificationRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys

    package init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// Keeps a notification; `false` if the provider sent it before, as far as that is known.
    package func insert(
        _ notification: UserNotification, as id: OutboxMessageID, to user: User
    ) throws -> Bool {
        let now = transaction.now
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user.id, at: now)
        // Due when it expires: it must not stand before what is to be sent.
        let end = now.addingTimeInterval(UserNotification.lifetime)
        return try OutboxRepository(transaction).insert(
            OutboxMessage(
                id: id, kind: .notification, subject: user.providerID.description, userID: user.id,
                deduplicationKey: "\(OutboxKind.notification.rawValue) \(user.id) \(notification.id)",
                payload: try key.seal(notification.json.jsonText, in: .outboxPayload, of: id), createdAt: now,
                expiresAt: end, dueAt: end))
    }

    /// A notification of a user that still waits; `nil` if there is none.
    ///
    /// - Throws: ``SealingFailure``.
    package func find(_ id: OutboxMessageID, of user: UserID) throws -> (content: UserNotification, sentAt: Date)? {
        guard let message = try OutboxRepository(transaction).find(id), message.kind == .notification,
            message.userID == user, message.state == .waiting, transaction.now < message.expiresAt,
            let key = try DataKeyRepository(transaction, keys: keys).find(user),
            let content = UserNotification(
                jsonText: try key.open(message.payload, in: .outboxPayload, of: id))
        else { return nil }
        return (content, message.createdAt)
    }

    /// All that wait for a user, oldest first: for the export.
    package func list(of user: UserID) throws -> [(content: UserNotification, sentAt: Date)] {
        let waiting: [OutboxMessageID] = try transaction.values(
            """
            SELECT id FROM outbox WHERE user_id = $1 AND kind = 'notification' AND state = 'waiting'
            ORDER BY created_at, id
            """, [.id(user)])
        return try waiting.compactMap { try find($0, of: user) }
    }

    /// Deletes a user's oldest notifications beyond a number.
    package func dropOldest(of user: UserID, keeping count: Int) throws {
        let dropped: [OutboxMessageID] = try transaction.values(
            """
            DELETE FROM outbox WHERE id IN (
                SELECT id FROM outbox WHERE user_id = $1 AND kind = 'notification'
                ORDER BY created_at DESC, id DESC LIMIT 1000 OFFSET $2)
            RETURNING id
            """, [.id(user), count.value])
        for id in dropped {
            try transaction.enqueue(
                "DELETE FROM user_changes WHERE user_id = $1 AND kind = 'NOTIFICATION' AND target = $2",
                [.id(user), .id(id)])
        }
    }
}
