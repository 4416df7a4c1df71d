import Domain
import Encoding

/// A push in Amazon SNS's form for all platforms (Amazon SNS Developer Guide, "Publishing Amazon SNS messages with
/// platform-specific payloads"; `MessageStructure` is `json`).
package struct PushNotification: Sendable, Equatable {
    let title: String
    let body: String
    /// Further data for the app. No name may be `aps`.
    let data: [(name: String, value: String)]

    /// The largest message of one platform, bytes: APNs and FCM both accept 4 KB.
    static let maximumSize = 4096

    /// - Parameters:
    ///   - type: `nil` for a provider's notification, whose data the provider chooses.
    ///   - data: further data. They cannot have the name `type` if there is a type.
    package init(_ type: PushType?, title: String, body: String, data: [(name: String, value: String)] = []) {
        self.title = title
        self.body = body
        self.data = (type.map { [(name: "type", value: $0.rawValue)] } ?? []) + data
    }

    /// Whether a text is a payload that SNS accepts: an object of texts, one of them `default`, each within the
    /// limit.
    static func isPayload(_ text: String) -> Bool {
        guard text.utf8.count <= 8 * maximumSize, case .object(let members)? = try? StrictJSON.parse(text.utf8) else {
            return false
        }
        return members.contains { $0.name == "default" }
            && members.allSatisfy { ($0.value.text?.utf8.count).map { $0 <= maximumSize } ?? false }
    }
}

package extension PushNotification {
    /// The payload of ``Message/push(endpoint:payload:urgency:)``. `default` is for any platform, `APNS` and `APNS_SANDBOX`
    /// (Apple, "Generating a remote notification") and `GCM` (Firebase, "FCM HTTP v1", `Message`) for their own.
    ///
    /// - Returns: `nil` if one platform's part exceeds ``maximumSize``, or a name occurs twice.
    var payload: String? {
        let members = data.map { JSONMember(name: $0.name, value: .string($0.value)) }
        guard Set(members.map(\.name) + ["aps"]).count == members.count + 1 else { return nil }
        let words = JSONValue.object(["title": .string(title), "body": .string(body)])
        let apple = JSONValue.object([JSONMember(name: "aps", value: .object(["alert": words]))] + members)
        let firebase = JSONValue.object([
            "fcmV1Message": .object(["message": .object(["notification": words, "data": .object(members)])])
        ])
        let parts = [apple.jsonText, firebase.jsonText]
        guard parts.allSatisfy({ $0.utf8.count <= Self.maximumSize }) else { return nil }
        return JSONValue.object([
            "default": .string(body), "APNS": .string(parts[0]), "APNS_SANDBOX": .string(parts[0]),
            "GCM": .string(parts[1]),
        ]).jsonText
    }

    /// Equal if all parts are, the data in order.
    static func == (left: PushNotification, right: PushNotification) -> Bool {
        left.title == right.title && left.body == right.body
            && left.data.elementsEqual(right.data) {
                $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value)
            }
    }

    /// The payload of a push about a call, which wakes the app.
    ///
    /// Firebase shows the text of a message with `notification` itself and does not wake the app. So the text is among
    /// the data, and the app shows it. Apple's parts also occur under the names of its VoIP platforms.
    ///
    /// - Parameters:
    ///   - id: the call. A later push of the same call replaces the earlier one on the screen.
    ///   - seconds: how long the push is useful.
    ///   - isRinging: whether the phone makes a sound.
    /// - Returns: `nil` if one platform's part is too long, or a name occurs twice.
    func callPayload(id: String, seconds: Int, isRinging: Bool) -> String? {
        let members = data.map { JSONMember(name: $0.name, value: .string($0.value)) }
        let words = [JSONMember(name: "title", value: .string(title)), JSONMember(name: "body", value: .string(body))]
        guard Set((members + words).map(\.name) + ["aps"]).count == members.count + 3 else { return nil }
        let sound = isRinging ? [JSONMember(name: "sound", value: .string("default"))] : []
        let aps = JSONValue.object([JSONMember(name: "alert", value: .object(words))] + sound)
        let apple = JSONValue.object([JSONMember(name: "aps", value: aps)] + members).jsonText
        let firebase = JSONValue.object([
            "fcmV1Message": .object([
                "message": .object([
                    "data": .object(words + members),
                    "android": .object([
                        "priority": .string("high"), "ttl": .string("\(max(1, seconds))s"), "collapse_key": .string(id),
                    ]),
                ])
            ])
        ]).jsonText
        guard [apple, firebase].allSatisfy({ $0.utf8.count <= Self.maximumSize }) else { return nil }
        let names = ["APNS", "APNS_SANDBOX", "APNS_VOIP", "APNS_VOIP_SANDBOX"]
        return JSONValue.object(
            [JSONMember(name: "default", value: .string(body))]
                + names.map { JSONMember(name: $0, value: .string(apple)) }
                + [JSONMember(name: "GCM", value: .string(firebase))]
        ).jsonText
    }
}
