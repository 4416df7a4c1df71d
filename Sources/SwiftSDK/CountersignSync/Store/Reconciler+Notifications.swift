import CountersignClient
import Foundation
import GRDB

extension Reconciler {
    /// The number of remembered notifications, which is also the service's limit.
    private static let keptNotifications = 100

    /// Stores the provider's notifications. A known one is not changed, even if it was deleted.
    func keep(_ notifications: [ProviderNotification]) throws {
        guard !notifications.isEmpty else { return }
        for one in notifications {
            try connection.execute(
                sql: """
                    INSERT INTO notifications (notification_id, sent_at, content) VALUES (?, ?, ?)
                    ON CONFLICT (notification_id) DO NOTHING
                    """, arguments: [one.id.text, one.sentAt, try Stored.text(one)])
        }
        try connection.execute(
            sql: """
                DELETE FROM notifications WHERE notification_id IN (
                    SELECT notification_id FROM notifications ORDER BY sent_at DESC, rowid DESC LIMIT -1 OFFSET ?)
                """, arguments: [Self.keptNotifications])
    }

    /// Notifications that were not deleted, newest first.
    func notifications() throws -> [ProviderNotification] {
        try String.fetchAll(
            connection,
            sql: "SELECT content FROM notifications WHERE content IS NOT NULL ORDER BY sent_at DESC, rowid DESC"
        ).map { try Stored.value($0) }
    }

    func forget(notification id: UUID) throws {
        try connection.execute(
            sql: "UPDATE notifications SET content = NULL WHERE notification_id = ?", arguments: [id.text])
    }
}

extension LocalStreams {
    /// The last hundred notifications of the user's provider, newest first. ``changes`` reports new ones.
    public func notifications() async throws(Refusal) -> [ProviderNotification] {
        try await read { try $0.notifications() }
    }

    /// Deletes a notification on this device.
    public func forget(notification id: UUID) async throws(Refusal) {
        try await write { try $0.forget(notification: id) }
    }
}
