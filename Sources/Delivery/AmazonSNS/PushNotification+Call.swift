import Encoding

package extension PushNotification {
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
