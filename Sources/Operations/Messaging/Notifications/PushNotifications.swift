import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories

/// Pushes of providers' notifications, to each device of a user that has registered an endpoint.
struct PushNotifications: Sendable {
    let keys: PersonalKeys
    private let environment: Environment

    init(_ service: Service) {
        keys = service.keys.personal
        environment = service.environment
    }

    /// How long a push is tried, in seconds. An older one would surprise the user. The notification itself waits for
    /// longer.
    private static let lifetime: TimeInterval = 3600

    /// Queues a push to each device; `false` without a text to show, or without an endpoint.
    func queue(
        _ notification: UserNotification, _ id: OutboxMessageID, to user: User, in transaction: any Transaction
    ) throws -> Bool {
        guard notification.title != nil || notification.body != nil else { return false }
        let devices = try PushEndpointRepository(transaction, keys: keys).devices(of: user.id)
        let (outbox, now, owner) = (OutboxRepository(transaction), transaction.now, OutboxOwner(user.providerID))
        for device in devices {
            let subject = PushSubject(id.description, for: device).text
            try outbox.enqueueInsert(
                OutboxMessage(
                    id: environment.newIdentifier(), kind: .notificationPush, owner: owner, subject: subject,
                    userID: user.id, deduplicationKey: "\(OutboxKind.notificationPush.rawValue) \(subject)",
                    payload: [], createdAt: now, expiresAt: now.addingTimeInterval(Self.lifetime), dueAt: now))
        }
        return !devices.isEmpty
    }

    /// The content, read when it is sent. It is empty if the user was banned meanwhile.
    func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        do {
            guard let subject = message.push, let id = OutboxMessageID(subject.about[0]),
                let found = try NotificationRepository(transaction, keys: keys).find([id], of: message.userID)[id]
            else { return .overtaken("the notification was deleted") }
            guard try AuthorizationParties(required: .none, in: transaction).ban(of: message.userID) == nil else {
                return .overtaken("the user is banned")
            }
            return try PushDevices(keys: keys).content(to: message.userID, on: subject.device, in: transaction) {
                Self.payload(of: found.content)
            }
        } catch is SealingFailure {
            return .unreadable("the notification cannot be opened")
        }
    }

    /// The payload for SNS. Data that does not fit in addition to the text is omitted, and the device synchronizes it.
    private static func payload(of content: UserNotification) -> String? {
        let id = (name: "notification_id", value: content.id)
        let data = content.data.compactMap { member in member.value.text.map { (name: member.name, value: $0) } }
        func notification(_ data: [(name: String, value: String)]) -> PushNotification {
            PushNotification(nil, title: content.title ?? "", body: content.body ?? "", data: data)
        }
        return notification([id] + data).payload ?? notification([id]).payload
    }
}
