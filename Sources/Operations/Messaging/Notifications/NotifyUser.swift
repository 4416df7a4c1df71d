import Database
import Domain
import Repositories

package extension Service {
    /// Stores a provider's notification for the user's devices, and queues a push to each device with an endpoint if it
    /// has a text.
    ///
    /// - Throws: `Refusal` `not_found`; `rate_limited`; `provider_token_invalid` if the key was retired or the provider
    ///   was disabled meanwhile.
    func notifyUser(
        _ notification: UserNotification, to externalID: String, by caller: ProvenProvider
    ) async throws {
        let id: OutboxMessageID = environment.newIdentifier()
        let keys = keys.personal
        let limit = RateLimit(count: policy[\.streams].notificationsPerMinute, per: 60)
        let isLimited = rateLimiting == .on
        if isLimited {
            try caches.providers.notifications(of: caller.id).count(
                limit: RateLimit(count: policy[\.streams].notificationsPerProvider, per: 60),
                now: environment.now())
        }
        let known = try await user(externalID, of: caller.id)
        try await write { transaction, events in
            try caller.requireActive(in: transaction)
            // No new key may be made for an erased user.
            guard let user = try UserRepository(transaction).find(known.id),
                try DataKeyRepository(transaction, keys: keys).erasedAt(user.id) == nil
            else { throw Refusal.unknownProviderUser }
            if isLimited { try RateRepository(transaction).count("notifications \(user.id)", limit: limit) }
            let notifications = NotificationRepository(transaction, keys: keys)
            guard try notifications.insert(notification, as: id, to: user) else { return }
            try notifications.dropOldest(of: user.id, keeping: UserNotification.keptPerUser)
            try StreamUserRepository(transaction).note(
                .notification, of: MessageStreamID(id.uuid), for: [user.id], at: transaction.now)
            events.record(.messagesChanged(of: [user.id]))
            if try PushNotifications(self).queue(notification, id, to: user, in: transaction) {
                events.record(.messageQueued)
            }
        }
    }
}
