import Database
import Delivery
import Domain
import Foundation
import Repositories

/// Notifies members by a push to each of their devices, if none of them fetches a message. One push covers all messages
/// of a stream until a device fetches them.
struct PushMessages: Sendable {
    /// How long a device has to acknowledge the message before a push is sent, in seconds.
    static let patience: TimeInterval = 10
    /// How long a push is tried, in seconds.
    static let lifetime: TimeInterval = 86_400

    private let keys: PersonalKeys
    private let policy: CurrentPolicy
    private let environment: Environment

    init(_ context: Service) {
        (keys, policy) = (context.keys.personal, context.policy)
        environment = context.environment
    }

    /// Queues a push to each device of some members, unless one waits or was sent since a device of theirs acknowledged
    /// messages. The outbox is not read, because that would conflict with every writer. The outbox is woken for the first
    /// message that a member has not received. Other pushes are found in its next round.
    ///
    /// - Parameter devices: the devices with an endpoint, and their members.
    func queue(
        _ message: StreamMessage, of provider: ProviderID, to devices: [(member: StreamMember, device: DeviceID)],
        in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let (outbox, now, owner) = (OutboxRepository(transaction), transaction.now, OutboxOwner(provider))
        for (member, device) in devices {
            let subject = PushSubject(member.streamID.description, for: device).text
            let key = Self.key(subject, member)
            let push = OutboxMessage(
                id: environment.newIdentifier(), kind: .message, owner: owner, subject: subject,
                userID: member.userID, deduplicationKey: key, payload: [], createdAt: now,
                expiresAt: now.addingTimeInterval(Self.lifetime), dueAt: now.addingTimeInterval(Self.patience))
            try transaction.once([.text(key)]) { try outbox.enqueueInsert(push) }
        }
        if devices.contains(where: { $0.member.deliveredThrough == message.sequence - 1 }) {
            events.record(.messageQueued)
        }
    }

    /// One push covers all messages after the number that a device has acknowledged.
    private static func key(_ subject: String, _ member: StreamMember) -> String {
        "\(OutboxKind.message.rawValue) \(subject) \(member.userID) \(member.deliveredThrough)"
    }

    /// The content of a push, read when it is sent. It is empty if a device has fetched the messages meanwhile, if a later
    /// push covers the rest, or if the user may no longer read them. It never contains a message's text.
    func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        guard let subject = message.push, let id = MessageStreamID(subject.about[0]),
            let stream = try MessageStreamRepository(transaction).find(id), stream.deletedAt == nil
        else { return .overtaken("the stream was deleted") }
        guard let member = try StreamMemberRepository(transaction).find(message.userID, in: id), member.leftAt == nil
        else { return .overtaken("the user is not a member") }
        let count = stream.lastSequence - member.deliveredThrough
        guard count > 0 else { return .overtaken("a device has the messages") }
        let key = Self.key(message.subject, member)
        guard try message.deduplicationKey == key || OutboxRepository(transaction).find(key: key) == nil else {
            return .overtaken("a device has come since, and a later push is for the rest")
        }
        let sender: UserID
        switch try newestSender(for: member, in: stream, transaction) {
        case .found(let user): sender = user
        case .none(let reason): return .overtaken(reason)
        }
        do {
            return try PushDevices(keys: keys).content(to: member.userID, on: subject.device, in: transaction) {
                var profiles = try PublicProfiles(of: [sender], policy[\.streams].members, keys: keys, in: transaction)
                guard let profile = try profiles.find(sender) else { return nil }
                func payload(withPicture: Bool) -> String? {
                    PushNotification(
                        .message, title: count == 1 ? "A new message" : "New messages",
                        body: "\(profile.displayName ?? profile.initials ?? "Somebody") wrote to you.",
                        data: [("stream_id", id.description), ("last_sequence", "\(stream.lastSequence)")]
                            + profile.pushData(withPicture: withPicture)
                    ).payload
                }
                return payload(withPicture: true) ?? payload(withPicture: false)
            }
        } catch is SealingFailure {
            return .unreadable("the endpoint cannot be opened")
        }
    }

    /// The number of newest messages among which a member's push finds one to name. One member's messages that were
    /// deleted, or that the member does not see, hide none of the others.
    private static let searched = 20

    private enum Newest {
        case found(UserID)
        case none(reason: String)
    }

    /// The sender of the newest message that may be shown to a member.
    private func newestSender(
        for member: StreamMember, in stream: MessageStream, _ transaction: any Transaction
    ) throws -> Newest {
        let messages = try StreamMessageRepository(transaction).newest(
            after: member.deliveredThrough, in: stream.id, limit: Self.searched)
        var reason =
            messages.first?.senderID == member.userID ? "a device has sent the message" : "the message was deleted"
        var refused: Set<UserID> = []
        for message in messages {
            guard let sender = message.senderID, message.sealedBody != nil else { continue }
            guard sender != member.userID, !refused.contains(sender) else { continue }
            if try mayBeNotified(member.userID, of: sender, in: stream, transaction) { return .found(sender) }
            refused.insert(sender)
            reason = "the user may not read it"
        }
        return .none(reason: reason)
    }

    /// Whether a member may learn of a message or a call of another one.
    func mayBeNotified(
        _ user: UserID, of sender: UserID, in stream: MessageStream, _ transaction: any Transaction
    ) throws -> Bool {
        let parties = AuthorizationParties(policy, in: transaction)
        guard try parties.ban(of: user) == nil, try !BlockRepository(transaction).holds(user, blocks: sender) else {
            return false
        }
        guard stream.kind.isBetweenTwo else { return true }
        return try parties.arePermitted(user, sender) && parties.ban(of: sender) == nil
    }
}
