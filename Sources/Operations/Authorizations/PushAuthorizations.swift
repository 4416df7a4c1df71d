import Database
import Delivery
import Domain
import Foundation
import Repositories

/// Notifies the recipient of a request, and the requester of the answer, by a push to each device. The rows decide: a row
/// that is not marked as sent is queued once its user has an endpoint. It is marked after the first push was sent.
struct PushAuthorizations: Sendable {
    private let keys: PersonalKeys
    private let policy: CurrentPolicy
    private let environment: Environment

    init(keys: PersonalKeys, policy: CurrentPolicy, environment: Environment) {
        self.keys = keys
        self.policy = policy
        self.environment = environment
    }

    /// Queues the messages for a row; does nothing if no user must be notified, or the user has no endpoint yet.
    ///
    /// - Parameter device: the only device to notify; `nil` for all of the user's devices.
    func queue(
        _ row: AuthorizationRow, of authorization: MessagingPermission, to device: DeviceID? = nil,
        in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        guard let recipient = row.recipientID, row.isSent == false else { return }
        let all = try PushEndpointRepository(transaction, keys: keys).devices(of: recipient)
        let devices = all.filter { device == nil || $0 == device }
        let messages: [(id: OutboxMessageID, device: DeviceID)] = devices.map { (environment.newIdentifier(), $0) }
        guard let first = messages.first, try AuthorizationRowRepository(transaction).queue(row, as: first.id) else {
            return
        }
        let (outbox, now) = (OutboxRepository(transaction), transaction.now)
        let end =
            row.type == .request
            ? authorization.expiresAt : now.addingTimeInterval(policy[\.authorizations].requestLifetime)
        for (id, device) in messages {
            try outbox.enqueueInsert(
                OutboxMessage(
                    id: id, kind: .authorization, owner: OutboxOwner(authorization.providerID),
                    subject: PushSubject(row.authorizationID.description, row.type.rawValue, for: device).text,
                    userID: recipient, deduplicationKey: "\(OutboxKind.authorization.rawValue) \(id)", payload: [],
                    createdAt: now, expiresAt: end, dueAt: now))
        }
        events.record(.messageQueued)
    }

    /// Queues the pending rows of a user for a device that has registered an endpoint.
    func queueUnsent(
        to user: UserID, on device: DeviceID, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let records = AuthorizationRepository(transaction)
        for row in try AuthorizationRowRepository(transaction).unsent(to: user, limit: 100) {
            guard let authorization = try records.find(row.authorizationID),
                authorization.state(now: transaction.now) == row.type
            else { continue }
            try queue(row, of: authorization, to: device, in: transaction, &events)
        }
    }

    /// The content of a message, read when it is sent. There is none if the authorization has changed its state since,
    /// or if one of the two users is no longer verified.
    func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        guard let (subject, id, type) = Self.subject(of: message),
            let row = try AuthorizationRowRepository(transaction).find(id, type),
            let authorization = try AuthorizationRepository(transaction).find(row.authorizationID)
        else { return .overtaken("the row was deleted") }
        let state = authorization.state(now: transaction.now)
        guard state == row.type, row.recipientID == message.userID else {
            return .overtaken("the authorization is \(state.rawValue)")
        }
        let parties = AuthorizationParties(policy, in: transaction)
        guard try parties.mayTakePart(authorization.requesterID), try parties.mayTakePart(authorization.recipientID)
        else {
            return .overtaken("somebody is not verified")
        }
        do {
            let other = row.type == .request ? authorization.requesterID : authorization.recipientID
            let disclosure = row.type == .approval ? policy[\.streams].members : nil
            let partner = try other.flatMap {
                try AuthorizationPartner.find($0, disclosing: disclosure, keys: keys, in: transaction)
            }
            guard let partner else { return .overtaken("the user was erased") }
            return try PushDevices(keys: keys).content(to: message.userID, on: subject.device, in: transaction) {
                AuthorizationPush(row, partner).payload
            }
        } catch is SealingFailure {
            return .unreadable("the endpoint cannot be opened")
        }
    }

    private static func subject(
        of message: OutboxMessage
    ) -> (push: PushSubject, id: AuthorizationID, type: MessagingPermission.State)? {
        guard let push = message.push, let id = AuthorizationID(push.about[0]),
            let type = MessagingPermission.State(rawValue: push.about[1])
        else { return nil }
        return (push, id, type)
    }

    /// Records the result of a message in the rows: sent, or released for another message.
    ///
    /// - Parameter isReplaced: whether the endpoint was deleted, and the device has registered another one since.
    func settle(
        _ message: OutboxMessage, isReplaced: Bool, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        guard let (subject, id, type) = Self.subject(of: message) else { return }
        let rows = AuthorizationRowRepository(transaction)
        switch message.state {
        case .sent: try rows.markSent(id, type)
        case .expired: try rows.release(id, type)
        case .waiting, .dead, .dropped: return
        }
        if isReplaced { try queueUnsent(to: message.userID, on: subject.device, in: transaction, &events) }
    }
}

/// The text and data of one push: enough to open the page, but no number and no birthday. Before the approval it has no
/// user id, address or name.
struct AuthorizationPush {
    private let row: AuthorizationRow
    private let partner: AuthorizationPartner

    /// Takes a row, and the user on the other side of it.
    init(_ row: AuthorizationRow, _ partner: AuthorizationPartner) {
        self.row = row
        self.partner = partner
    }

    /// The payload for SNS, without the picture if its URL would not fit.
    var payload: String? {
        notification(withPicture: true).payload ?? notification(withPicture: false).payload
    }

    private func notification(withPicture: Bool) -> PushNotification {
        let name = partner.profile?.displayName ?? partner.initials
        let person = [name, partner.age.map(String.init)].compactMap(\.self).joined(separator: ", ")
        let somebody = person.isEmpty ? "Somebody" : person
        var data = [(name: "authorization_id", value: row.authorizationID.description)]
        let (type, title, body): (PushType, String, String)
        switch row.type {
        case .request: (type, title, body) = (.request, "A request to message", "\(somebody) asks to message with you.")
        case .approval:
            (type, title, body) = (.approval, "Your request was accepted", "\(somebody) agreed to message with you.")
        default:
            // A user who declines reveals nothing.
            return PushNotification(
                .rejection, title: "Your request was declined", body: "You may ask somebody else.", data: data)
        }
        // Initials and picture are shown to the other side whatever the policy.
        data += (partner.profile?.pushData(withPicture: false) ?? []).filter { $0.name != "initials" }
        if let initials = partner.initials { data.append((name: "initials", value: initials)) }
        if let age = partner.age { data.append((name: "age", value: String(age))) }
        if withPicture, let picture = partner.pictureURL { data.append((name: "picture_url", value: picture)) }
        data.append((name: "verified", value: partner.assurance >= .barcode ? "true" : "false"))
        data.append((name: "assurance", value: partner.assurance.rawValue))
        return PushNotification(type, title: title, body: body, data: data)
    }
}

extension Service {
    var authorizationPushes: PushAuthorizations {
        PushAuthorizations(keys: keys.personal, policy: policy, environment: environment)
    }
}
