import Domain
import Encoding
import Foundation
import Operations

/// The configuration of a stream in responses (SSF 1.0 §8.1.1).
struct EventStreamDocument {
    /// The delivery methods by their names in a configuration.
    enum Method: String, CaseIterable {
        case push = "urn:ietf:rfc:8935"
        case poll = "urn:ietf:rfc:8936"
    }

    let urls: ServiceURLs
    let policy: WebhookPolicy

    /// The whole configuration without the receiver's header, which is write-only.
    func json(_ stream: EventStream) -> JSONValue {
        let settings = stream.settings
        return .object([
            "stream_id": .id(stream.id), "iss": .string(urls.issuer), "aud": .string(stream.provider.description),
            "events_supported": Self.texts(ProviderEvent.types),
            "events_requested": settings.requested.map(Self.texts), "events_delivered": Self.texts(settings.delivered),
            "events_unsupported": Self.unsupported(settings.requested ?? []),
            "delivery": delivery(stream), "min_verification_interval": .integer(Int64(policy.verificationInterval)),
            "inactivity_timeout": policy.streamInactivity.map { .integer(Int64($0)) },
            "description": settings.description.map { .string($0) },
            "signing_alg": .string(settings.algorithm.rawValue),
            "subject_format": .string(settings.subjectForm.rawValue),
        ])
    }

    /// The requested events that this service never sends; `nil` without any. SSF 1.0 §8.1.1 ignores them silently, and a
    /// receiver with a misspelt URI waits for ever.
    private static func unsupported(_ requested: [String]) -> JSONValue? {
        let supported = Set(ProviderEvent.types)
        let others = requested.filter { !supported.contains($0) }
        return others.isEmpty ? nil : texts(others)
    }

    private func delivery(_ stream: EventStream) -> JSONValue {
        let (method, url): (Method, String) =
            switch stream.settings.delivery {
            case .push(let url): (.push, url)
            case .poll: (.poll, "\(urls.issuer)/ssf/poll/\(stream.id)")
            }
        return .object(["method": .string(method.rawValue), "endpoint_url": .string(url)])
    }

    /// Refuses members that the transmitter sets, unless they are unchanged (SSF 1.0 §8.1.1.3).
    ///
    /// - Throws: `Refusal` `malformed_request`.
    func requireUnchanged(_ members: inout JSONBodyDecoder, of stream: EventStream) throws(Refusal) {
        let present = json(stream)
        for name in [
            "iss", "aud", "events_supported", "events_delivered", "min_verification_interval", "inactivity_timeout",
        ] {
            guard let given = try members.optionalValue(name) else { continue }
            guard Self.isSame(given, present[name]) else {
                throw Refusal.setByService(name)
            }
        }
        let delivery = members.peek("delivery")
        if delivery?["method"]?.text == Method.poll.rawValue, stream.settings.delivery == .poll,
            let url = delivery?["endpoint_url"], url != present["delivery"]?["endpoint_url"]
        {
            throw Refusal.setByService("delivery.endpoint_url")
        }
    }

    /// Compares values. Lists may be in any order, and a single audience equals a list of it.
    private static func isSame(_ given: JSONValue, _ present: JSONValue?) -> Bool {
        if given == present { return true }
        guard case .array(let values) = given else { return false }
        if values.count == 1, values.first == present { return true }
        guard case .array(let others)? = present else { return false }
        return values.count == others.count && Set(values.compactMap(\.text)) == Set(others.compactMap(\.text))
    }

    private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

extension EventStream.Change {
    /// The largest numbers and lengths in a receiver's configuration.
    private static let maximumEvents = 64
    private static let maximumLength = 1024

    /// Parses the receiver's part of a configuration. Unknown members are ignored.
    init(_ members: inout JSONBodyDecoder) throws(Refusal) {
        self.init()
        try readDelivery(try members.optionalValue("delivery"))
        switch try members.optionalValue("events_requested") {
        case nil: break
        case .null: requested = .some(nil)
        case .array(let values) where (1...Self.maximumEvents).contains(values.count):
            let texts = values.compactMap(\.text).filter { $0.utf8.count <= 256 && !$0.utf8.contains(0) }
            guard texts.count == values.count else { fallthrough }
            requested = .some(texts)
        default:
            throw Refusal.unreadableEvents(allowed: Self.maximumEvents)
        }
        if members.peek("description") != nil { description = .some(try members.shownText("description")) }
        algorithm = try Self.choice("signing_alg", &members)
        subjectForm = try Self.choice("subject_format", &members)
    }

    private mutating func readDelivery(_ value: JSONValue?) throws(Refusal) {
        switch value {
        case nil: return
        case .null: delivery = .some(nil)
        case .object:
            switch value?["method"]?.text.flatMap(EventStreamDocument.Method.init) {
            case .poll: delivery = .some(.poll)
            case .push:
                guard let url = value?["endpoint_url"]?.text else {
                    throw Refusal.memberMissing("delivery.endpoint_url")
                }
                delivery = .some(.push(url))
                try readHeader(value?["authorization_header"])
            case nil:
                throw Refusal.memberMustBeOneOf(EventStreamDocument.Method.self, "delivery.method")
            }
        default: throw Refusal.memberMustBe("an object", "delivery")
        }
    }

    /// Parses the value of a header field: visible ASCII and inner spaces (RFC 9110 §5.5).
    private mutating func readHeader(_ value: JSONValue?) throws(Refusal) {
        switch value {
        case nil: return
        case .null: authorization = .some(nil)
        case .string(let text)
        where (1...Self.maximumLength).contains(text.utf8.count) && text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            && !text.hasPrefix(" ") && !text.hasSuffix(" "):
            authorization = .some(Secret(text))
        default:
            throw Refusal.unreadableHeader(allowed: Self.maximumLength)
        }
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ members: inout JSONBodyDecoder
    ) throws(Refusal) -> Choice?? where Choice.RawValue == String {
        guard let value = try members.optionalValue(name) else { return nil }
        if value == .null { return .some(nil) }
        guard let choice = value.text.flatMap(Choice.init) else {
            throw Refusal.memberMustBeOneOf(Choice.self, name)
        }
        return .some(choice)
    }
}

extension EventPoll {
    /// Parses the body of a poll (RFC 8936 §2.2). Ids that are not from this service are reported in the response.
    ///
    /// Both `ack` and `setErrs` may name as many events as a poll may return: `StrictJSON.maximumCount` bounds all three.
    init(_ members: inout JSONBodyDecoder) throws(Refusal) {
        var maximum: Int?
        switch try members.optionalValue("maxEvents") {
        case nil, .null: break
        case .integer(let count) where count >= 0: maximum = Int(count)
        default: throw Refusal.memberMustBe("a whole number of 0 or more", "maxEvents")
        }
        var isImmediate = false
        switch try members.optionalValue("returnImmediately") {
        case nil, .null: break
        case .bool(let value): isImmediate = value
        default: throw Refusal.memberMustBe("true or false", "returnImmediately")
        }
        var received: [String] = []
        switch try members.optionalValue("ack") {
        case nil, .null: break
        case .array(let values): received = values.compactMap(\.text)
        default: throw Refusal.memberMustBe("a list of ids", "ack")
        }
        var refused: [JSONMember] = []
        switch try members.optionalValue("setErrs") {
        case nil, .null: break
        case .object(let values): refused = values
        default: throw Refusal.memberMustBe("an object of errors by ids", "setErrs")
        }
        self.init(
            maximum: maximum, isImmediate: isImmediate, received: received.compactMap { OutboxMessageID($0[...]) },
            refused: refused.compactMap { error in
                OutboxMessageID(error.name[...]).map { ($0, Self.word(error.value["err"]?.text)) }
            },
            unreadable: (received + refused.map(\.name)).filter { OutboxMessageID($0[...]) == nil })
    }

    /// The receiver's error code, if it is valid.
    private static func word(_ text: String?) -> String {
        guard let text, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F })
        else { return "other" }
        return text
    }
}

extension JSONBodyDecoder {
    /// An optional text of at most 1,024 bytes that admins see, in one line.
    mutating func shownText(_ name: String) throws(Refusal) -> String? {
        let text = try shortText(name)
        guard text.map({ PlainText.isPlain($0, for: .prose) }) ?? true else {
            throw Refusal.memberMustBe("a text of one line without invisible characters", name)
        }
        return text
    }

    /// An optional text of at most 1,024 bytes.
    mutating func shortText(_ name: String) throws(Refusal) -> String? {
        guard let text = try optionalString(name) else { return nil }
        guard text.utf8.count <= 1024, text.isStreamSafe else {
            throw Refusal.memberMustBe("a text of at most 1,024 bytes", name)
        }
        return text
    }
}
