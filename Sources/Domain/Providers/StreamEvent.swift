import Encoding

/// The event in a token of a stream: it concerns a user, or the stream itself.
package enum StreamEvent: Sendable, Equatable {
    case happened(ProviderEvent)
    /// The answer to a request for verification, with its `state` (SSF 1.0 §8.1.4).
    case verification(state: String?)
    /// The service changed the stream's status (SSF 1.0 §8.1.5).
    case updated(EventStream.Status, reason: String?)
}

package extension StreamEvent {
    /// The URI of the event.
    var type: String {
        switch self {
        case .happened(let event): event.type
        case .verification: Self.verificationType
        case .updated: Self.updatedType
        }
    }

    static let verificationType = "https://schemas.openid.net/secevent/ssf/event-type/verification"
    static let updatedType = "https://schemas.openid.net/secevent/ssf/event-type/stream-updated"

    /// The stored form in the outbox, without personal data.
    ///
    /// - Parameter cause: an id that all events with one cause share (`txn`, RFC 8417 §2.2).
    func jsonText(cause: String) -> String {
        switch self {
        case .happened(let event):
            guard case .object(let members)? = try? StrictJSON.parse(Array(event.jsonText.utf8)) else { return "" }
            return JSONValue.object(members + [JSONMember(name: "txn", value: .string(cause))]).jsonText
        case .verification(let state):
            return JSONValue.object([
                "event": .string("verification"), "state": state.map { .string($0) }, "txn": .string(cause),
            ]).jsonText
        case .updated(let status, let reason):
            return JSONValue.object([
                "event": .string("stream-updated"), "status": .string(status.rawValue),
                "reason": reason.map { .string($0) }, "txn": .string(cause),
            ]).jsonText
        }
    }

    /// Parses ``jsonText(cause:)`` and returns the event and its cause; `nil` for anything else.
    static func parse(_ jsonText: [UInt8]) -> (event: StreamEvent, cause: String)? {
        guard let value = try? StrictJSON.parse(jsonText), let cause = value["txn"]?.text else { return nil }
        switch value["event"]?.text {
        case "verification": return (.verification(state: value["state"]?.text), cause)
        case "stream-updated":
            guard let status = value["status"]?.text.flatMap(EventStream.Status.init) else { return nil }
            return (.updated(status, reason: value["reason"]?.text), cause)
        default: return ProviderEvent(jsonText: jsonText).map { (.happened($0), cause) }
        }
    }
}
