import Encoding
import Foundation

/// A provider's notification for a user, which all of the user's devices receive.
package struct UserNotification: Sendable, Equatable, Confidential {
    /// The provider's id of it. A second notification with the same id has no effect.
    package let id: String
    /// The title of a push. Without title and body no push is sent.
    package let title: String?
    package let body: String?
    /// Named texts for the app, which the service does not read.
    package let data: [JSONMember]

    /// Parses a notification of a provider. Title and body are shown on the devices' screens: the body may have lines.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    package init(id: String, title: String?, body: String?, data: JSONValue?) throws(Refusal) {
        let bytes = 0...Self.maximumSize
        if let title { try PlainText.require(title, about: .title, bytes: bytes, for: .prose) }
        if let body { try PlainText.require(body, about: .notificationBody, bytes: bytes, for: .note) }
        try self.init(stored: id, title: title, body: body, data: data)
    }

    /// - Parameter id: and the other parts were checked before they were stored, perhaps by an earlier version.
    private init(stored id: String, title: String?, body: String?, data: JSONValue?) throws(Refusal) {
        guard let uuid = UUID(uuidString: id), id.utf8.count == 36 else {
            throw Refusal.notUUID(.newID)
        }
        self.id = uuid.uuidString.lowercased()
        (self.title, self.body) = (title, body)
        switch data {
        case nil, .null: self.data = []
        case .object(let members):
            guard members.allSatisfy({ $0.value.text != nil }), Set(members.map(\.name)).count == members.count,
                !members.contains(where: { ["aps", "notification_id"].contains($0.name) })
            else {
                throw Refusal.unsuitableNotificationData
            }
            self.data = members
        default: throw Refusal.notObject(.notificationData)
        }
    }
}

package extension UserNotification {
    /// The largest request in bytes, which is what the platforms' pushes allow.
    static let maximumSize = 4096
    /// How long a device can still receive it, in seconds.
    static let lifetime: TimeInterval = 7 * 86_400
    /// The most notifications stored for one user. The oldest are dropped for new ones.
    static let keptPerUser = 100

    /// Parses ``json``; `nil` for anything else.
    init?(jsonText: String) {
        guard let value = try? StrictJSON.parse(jsonText.utf8), let id = value["id"]?.text,
            let made = try? UserNotification(
                stored: id, title: value["title"]?.text, body: value["body"]?.text, data: value["data"])
        else { return nil }
        self = made
    }

    var json: JSONValue { .object(members) }

    /// The form that the user's devices receive.
    func json(sentAt: Date) -> JSONValue {
        .object(members + [JSONMember(name: "sent_at", value: .string(sentAt.rfc3339))])
    }

    /// The approximate number of bytes in a response.
    var weight: Int {
        data.reduce(256 + (title ?? "").utf8.count + (body ?? "").utf8.count) { sum, member in
            sum + member.name.utf8.count + (member.value.text ?? "").utf8.count
        }
    }

    private var members: [JSONMember] {
        [
            JSONMember(name: "id", value: .string(id)),
            JSONMember(name: "title", value: title.map { .string($0) } ?? .null),
            JSONMember(name: "body", value: body.map { .string($0) } ?? .null),
            JSONMember(name: "data", value: .object(data)),
        ]
    }
}
