import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories

/// Pushes of providers' notifications, to users who have registered an endpoint.
struct PushNotifications: Sendable {
    let keys: PersonalKeys

    /// How long a push is tried, in seconds. An older one would surprise the user. The notification itself waits for
    /// longer.
    private static let lifetime: TimeInterval = 3600

    /// Queues a push; `false` without a text to show, or without an endpoint.
    func queue(
        _ notification: UserNotification, _ id: OutboxMessageID, as push: OutboxMessageID, to user: User,
        in transaction: any Transaction
    ) throws -> Bool {
        guard notification.title != nil || notification.body != nil,
            try AuthenticatedUserRepository(transaction, keys: keys).hasPushEndpoint(user.id)
        else { return false }
        let now = transaction.now
        return try OutboxRepository(transaction).insert(
            OutboxMessage(
                id: push, kind: .notificationPush, owner: OutboxOwner(user.providerID), subject: id.description,
                userID: user.id,
                deduplicationKey: "\(OutboxKind.notificationPush.rawValue) \(id)", payload: [], createdAt: now,
                expiresAt: now.addingTimeInterval(Self.lifetime), dueAt: now))
    }

    /// The content, read when it is sent. It is empty if the user was banned meanwhile.
    func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        do {
            guard let id = OutboxMessageID(message.subject[...]),
                let found = try NotificationRepository(transaction, keys: keys).find([id], of: message.userID)[id]
            else { return .overtaken("the notification was deleted") }
            let users = AuthenticatedUserRepository(transaction, keys: keys)
            guard let user = try users.find(message.userID), let endpoint = user.pushEndpoint else {
                return .overtaken("there is no endpoint")
            }
            guard try AuthorizationParties(required: .none, in: transaction).ban(of: message.userID) == nil else {
                return .overtaken("the user is banned")
            }
            guard let payload = Self.payload(of: found.content) else { return .overtaken("the push is too long") }
            return .message(.push(endpoint: endpoint, payload: payload))
        } catch is SealingFailure {
            return .unreadable("the notification cannot be opened")
        }
    }

    /// The payload for SNS. Data that does not fit in addition to the text is omitted, and the device synchronizes it.
    private static func payload(of content: UserNotification) -> String? {
        let id = (name: "notification_id", value: content.id)
        let data = content.data.compactMap { member in member.value.text.map { (name: member.name, value: $0) } }
        func notification(_ data: [(name: String, value: String)]) -> PushNotification {
            PushNotification(title: content.title ?? "", body: content.body ?? "", data: data)
        }
        return notification([id] + data).payload ?? notification([id]).payload
    }

    /// Removes a deleted endpoint, unless the user has registered another one since.
    func settle(
        _ message: OutboxMessage, _ content: OutboxContent, _ result: OutboxMessage.Result,
        in transaction: any Transaction
    ) throws {
        guard result == .endpointGone, case .message(.push(let endpoint, _)) = content else { return }
        _ = try AuthenticatedUserRepository(transaction, keys: keys).dropPushEndpoint(endpoint, of: message.userID)
    }
}
