import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories

/// Makes the devices of a callee ring by a push, at once, and ends the ringing by another.
struct PushCalls: Sendable {
    private let keys: PersonalKeys
    private let policy: CurrentPolicy
    private let environment: Environment
    private let messages: PushMessages

    init(_ service: Service) {
        (keys, policy) = (service.keys.personal, service.policy)
        environment = service.environment
        messages = PushMessages(service)
    }

    /// The devices of a call's callee that can be reached by a push.
    struct Callee: Sendable {
        let user: UserID
        let devices: [DeviceID]
    }

    /// Finds the callee's devices; `nil` if the stream is not a call, or its caller was erased.
    ///
    /// - Parameter members: the stream's members.
    func callee(
        of stream: MessageStream, _ members: [UserID], in transaction: any Transaction
    ) throws -> Callee? {
        guard stream.kind == .call, let caller = stream.createdBy, let user = members.first(where: { $0 != caller })
        else { return nil }
        let devices = try PushEndpointRepository(transaction, keys: keys).devices(of: user, for: .call)
        return Callee(user: user, devices: devices)
    }

    /// Queues the pushes of a message in a call: the offer makes the callee's devices ring until it is too late to
    /// answer. The answer ends the ringing of all but the device that picked up.
    func queue(
        _ message: StreamMessage, _ callee: Callee, in stream: MessageStream, from device: DeviceID,
        _ transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        if message.sequence > 1 {
            return try end(stream, callee, .answered, on: device, transaction, &events)
        }
        let late = end(of: stream)
        for device in callee.devices {
            try insert(.ring, stream, callee.user, device, due: transaction.now, until: late, in: transaction)
            try insert(
                .missed, stream, callee.user, device, due: late, until: late.addingTimeInterval(CallPush.endLifetime),
                in: transaction)
        }
        if !callee.devices.isEmpty { events.record(.messageQueued) }
    }

    /// When a call that was not answered stops ringing.
    private func end(of stream: MessageStream) -> Date {
        stream.createdAt.addingTimeInterval(policy[\.calls].ringing)
    }

    /// Queues the end of the ringing, if the call was offered, was not answered, and still rings.
    ///
    /// - Parameter device: the device that ended it, which needs no push.
    func end(
        _ stream: MessageStream, _ callee: Callee, _ why: CallPush, on device: DeviceID,
        _ transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let now = transaction.now
        guard stream.lastSequence == 1, now < end(of: stream) else { return }
        let others = callee.devices.filter { $0 != device }
        for other in others {
            try insert(
                why, stream, callee.user, other, due: now, until: now.addingTimeInterval(CallPush.endLifetime),
                in: transaction)
        }
        if !others.isEmpty { events.record(.messageQueued) }
    }

    private func insert(
        _ push: CallPush, _ stream: MessageStream, _ user: UserID, _ device: DeviceID, due: Date, until end: Date,
        in transaction: any Transaction
    ) throws {
        try OutboxRepository(transaction).enqueueInsert(
            OutboxMessage(
                id: environment.newIdentifier(), kind: .call, owner: OutboxOwner(stream.providerID),
                subject: PushSubject(stream.id.description, push.rawValue, for: device).text, userID: user,
                deduplicationKey: Self.key(push, stream.id, device), payload: [], createdAt: transaction.now,
                expiresAt: end, dueAt: due))
    }

    private static func key(_ push: CallPush, _ stream: MessageStreamID, _ device: DeviceID) -> String {
        "\(OutboxKind.call.rawValue) \(stream) \(push.rawValue) \(device)"
    }

    /// The content of a push, read when it is sent. A device rings only while the call waits for an answer and the
    /// callee may be called. It gets an end only if it rang.
    func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        guard let subject = message.push, let id = MessageStreamID(subject.about[0]),
            let push = CallPush(rawValue: subject.about[1]),
            let stream = try MessageStreamRepository(transaction).find(id)
        else { return .overtaken("the call was deleted") }
        do {
            if push == .ring { return try ring(message, stream, subject, in: transaction) }
            let late = end(of: stream)
            guard push != .missed || (stream.lastSequence == 1 && (stream.deletedAt ?? late) >= late) else {
                return .overtaken("the call is over")
            }
            switch try ringing(of: subject.device, stream.id, in: transaction) {
            case .none: return .overtaken("the device did not ring")
            case .underWay: return .unreadable("the device is about to ring")
            case .possible: break
            }
            // The device stops ringing by itself then. A missed call is news, and not of one who may not call.
            guard try push != .missed || callerAllowed(message.userID, in: stream, transaction) != nil else {
                return .overtaken("the user may not be called")
            }
            guard try AuthorizationParties(required: .none, in: transaction).ban(of: message.userID) == nil else {
                return .overtaken("the user is banned")
            }
            return try content(push, stream.id, of: message, caller: nil, to: subject.device, in: transaction)
        } catch is SealingFailure {
            return .unreadable("the endpoint cannot be opened")
        }
    }

    private func ring(
        _ message: OutboxMessage, _ stream: MessageStream, _ subject: PushSubject, in transaction: any Transaction
    ) throws -> OutboxContent {
        guard stream.deletedAt == nil, stream.lastSequence == 1 else { return .overtaken("the call is over") }
        guard let caller = try callerAllowed(message.userID, in: stream, transaction) else {
            return .overtaken("the user may not be called")
        }
        return try content(.ring, stream.id, of: message, caller: caller, to: subject.device, in: transaction)
    }

    /// The caller, if the callee may still be called; `nil` after a block, a cancellation, a ban or an erasure.
    private func callerAllowed(
        _ callee: UserID, in stream: MessageStream, _ transaction: any Transaction
    ) throws -> UserID? {
        guard let caller = stream.createdBy,
            let member = try StreamMemberRepository(transaction).find(callee, in: stream.id), member.leftAt == nil,
            try messages.mayBeNotified(callee, of: caller, in: stream, transaction)
        else { return nil }
        return caller
    }

    private enum Ringing {
        /// No push was sent, and none will be.
        case none
        /// A push is being sent, or its content was found to be outdated. Its result is not recorded yet.
        case underWay
        case possible
    }

    /// Whether a push made a device ring. The last try of an expired push sent nothing, because the push was outdated.
    private func ringing(
        of device: DeviceID, _ stream: MessageStreamID, in transaction: any Transaction
    ) throws -> Ringing {
        guard let push = try OutboxRepository(transaction).find(key: Self.key(.ring, stream, device)), push.tries > 0
        else { return .none }
        return switch push.state {
        case .sent, .dead: .possible
        case .waiting: .underWay
        case .expired: push.tries > 1 ? .possible : .none
        case .dropped: .none
        }
    }

    private func content(
        _ push: CallPush, _ stream: MessageStreamID, of message: OutboxMessage, caller: UserID?, to device: DeviceID,
        in transaction: any Transaction
    ) throws -> OutboxContent {
        let id = stream.description
        let seconds = Int(saturating: message.expiresAt.timeIntervalSince(transaction.now).rounded(.up))
        return try PushDevices(keys: keys).content(
            to: message.userID, on: device, for: push.purpose, urgency: .call(id: id, seconds: seconds),
            in: transaction
        ) {
            var profiles = try PublicProfiles(
                of: Set([caller].compactMap(\.self)), policy[\.streams].members, keys: keys, in: transaction)
            let profile = try caller.flatMap { try profiles.find($0) }
            let words = push.words(caller: profile?.displayName ?? profile?.initials)
            var data = [(name: "stream_id", value: id)]
            if push == .ring {
                data.append((name: "expires_at", value: message.expiresAt.rfc3339))
                data += profile?.pushData(withPicture: false) ?? []
            } else {
                data.append((name: "reason", value: push.rawValue))
            }
            return PushNotification(push.type, title: words.title, body: words.body, data: data).callPayload(
                id: id, seconds: seconds, isRinging: push == .ring)
        }
    }
}
