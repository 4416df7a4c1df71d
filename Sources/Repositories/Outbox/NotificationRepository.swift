import Database
import Domain
import Encoding
import Foundation

/// Providers' notifications to users. They wait in the outbox for the users' devices, sealed under the user's key.
package struct NotificationRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
}

package extension NotificationRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// Stores a notification; `false` if the provider is known to have sent it before.
    func insert(
        _ notification: UserNotification, as id: OutboxMessageID, to user: User
    ) throws -> Bool {
        let now = transaction.now
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user.id)
        // Due when it expires, so that it does not precede messages to send.
        let end = now.addingTimeInterval(UserNotification.lifetime)
        return try OutboxRepository(transaction).insert(
            OutboxMessage(
                id: id, kind: .notification, owner: OutboxOwner(user.providerID),
                subject: user.providerID.description, userID: user.id,
                deduplicationKey: "\(OutboxKind.notification.rawValue) \(user.id) \(notification.id)",
                payload: try key.seal(notification.json.jsonText, in: .outboxPayload, of: id), createdAt: now,
                expiresAt: end, dueAt: end))
    }

    /// The waiting notifications of a user among some ids.
    ///
    /// - Throws: ``SealingFailure``.
    func find(
        _ ids: [OutboxMessageID], of user: UserID
    ) throws -> [OutboxMessageID: (content: UserNotification, sentAt: Date)] {
        guard !ids.isEmpty else { return [:] }
        try transaction.ahead {
            _ = try OutboxRepository($0).find(ids)
            _ = try DataKeyRepository($0, keys: keys).find(user)
        }
        let waiting = try OutboxRepository(transaction).find(ids).filter {
            $0.kind == .notification && $0.userID == user && $0.state == .waiting && transaction.now < $0.expiresAt
        }
        guard !waiting.isEmpty, let key = try DataKeyRepository(transaction, keys: keys).find(user) else { return [:] }
        return try waiting.reduce(into: [:]) { found, message in
            let text = try key.open(message.payload, in: .outboxPayload, of: message.id)
            found[message.id] = UserNotification(jsonText: text).map { ($0, message.createdAt) }
        }
    }

    /// All waiting notifications of a user, oldest first, for the export.
    func list(of user: UserID) throws -> [(content: UserNotification, sentAt: Date)] {
        let waiting: [OutboxMessageID] = try transaction.values(
            """
            SELECT id FROM outbox WHERE user_id = $1 AND kind = 'notification' AND state = 'waiting'
            ORDER BY created_at, id
            """, [.id(user)])
        let found = try find(waiting, of: user)
        return waiting.compactMap { found[$0] }
    }

    /// Deletes a user's oldest notifications beyond a number.
    func dropOldest(of user: UserID, keeping count: Int) throws {
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
