import Crypto
import Domain
import Encoding
import Foundation
import PhoneNumbers

/// Sends messages to the operator's own receiver, signed by Standard Webhooks 1.0.0 ("Signature scheme", symmetric:
/// `v1`).
///
/// The body is `{"type","timestamp","data"}`, with type `message.text` and data `{"to","text"}`, or type
/// `message.push` and data `{"endpoint","payload"}`. A push of a call has `"urgency":"call"`, `"ttl"` in seconds, and the
/// `"collapse_id"` of the pushes of one call. The receiver answers 2xx after it has accepted the message, and 410 to a
/// push if the endpoint no longer exists.
struct WebhookSender: Sender {
    let name = "webhook"
    private let url: ServiceURL
    private let keys: [WebhookKey]
    private let http: BoundedHTTPClient
    private let now: @Sendable () -> Date

    /// Sends to one receiver.
    ///
    /// - Parameter keys: one key, or two during the receiver's key rotation.
    init(url: ServiceURL, keys: [WebhookKey], http: BoundedHTTPClient, now: @escaping @Sendable () -> Date) {
        self.url = url
        self.keys = keys
        self.http = http
        self.now = now
    }

    func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        let time = now()
        let body = Array(Self.event(message, at: time).jsonText.utf8)
        let headers =
            [(name: "Content-Type", value: "application/json")] + keys.headers(id: id, at: time, body: body)
        let reply = await http.reply(to: body, for: url.web, headers: headers)
        return Self.outcome(of: reply.answer, to: message, retryAfter: reply.retryAfter, id: WebhookKey.name(of: id))
    }

    private static func event(_ message: Message, at time: Date) -> JSONValue {
        let (type, data): (String, JSONValue) =
            switch message {
            case .text(let number, let body):
                ("message.text", .object(["to": .string(number.e164), "text": .string(body)]))
            case .push(let endpoint, let payload, let urgency):
                ("message.push", .object(push(endpoint, payload) + members(of: urgency)))
            }
        return .object(["type": .string(type), "timestamp": .string(time.rfc3339), "data": data])
    }

    private static func push(_ endpoint: String, _ payload: String) -> [JSONMember] {
        [
            JSONMember(name: "endpoint", value: .string(endpoint)),
            JSONMember(name: "payload", value: .string(payload)),
        ]
    }

    private static func members(of urgency: PushUrgency) -> [JSONMember] {
        guard case .call(let id, let seconds) = urgency else { return [] }
        return [
            JSONMember(name: "urgency", value: .string("call")),
            JSONMember(name: "ttl", value: .integer(Int64(seconds))),
            JSONMember(name: "collapse_id", value: .string(id)),
        ]
    }

    /// The outcome of an answer: 400 and 422 refuse the message, 410 reports that a push's endpoint no longer exists.
    /// Everything else is a failure of the receiver. After 429 and 503 it is retried when the receiver says.
    static func outcome(
        of answer: BoundedHTTPClient.Answer, to message: Message, retryAfter: TimeInterval? = nil, id: String
    ) -> DeliveryOutcome {
        if case .push = message, case .answered(410, _) = answer { return .endpointGone }
        return switch answer {
        case .failed(let reason): .unavailable(reason: reason)
        case .answered(200..<300, _): .sent(reference: id)
        case .answered(400, _), .answered(422, _): .refused(reason: "the receiver refused the message")
        case .answered(let status, _) where RetryAfter.statuses.contains(status):
            .unavailable(reason: "HTTP \(status)", retryAfter: retryAfter)
        case .answered(let status, _): .unavailable(reason: "HTTP \(status)")
        }
    }
}

/// A secret shared with the receiver of a webhook (Standard Webhooks 1.0.0, "Signature scheme").
struct WebhookKey: Sendable {
    private let key: Secret<SymmetricKey>

    /// Parses `whsec_` and the base64 of 24 to 64 bytes; `nil` for anything else.
    init?(_ text: String) {
        let prefix = "whsec_"
        guard text.hasPrefix(prefix), text.utf8.count <= 256,
            let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))), (24...64).contains(bytes.count)
        else { return nil }
        key = Secret(SymmetricKey(data: bytes))
    }

    /// `v1,` and the base64 of HMAC-SHA-256 over id, timestamp and body, joined by dots.
    func signature(id: String, timestamp: String, body: [UInt8]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        return "v1,"
            + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key.reveal())).base64EncodedString()
    }
}

extension WebhookKey {
    /// Parses the lines of a file: one key, or two during the receiver's key rotation.
    ///
    /// - Throws: ``DeliveryError/secret(_:expected:)``.
    static func list(_ text: String, file: String) throws(DeliveryError) -> [WebhookKey] {
        let lines = text.split(whereSeparator: \.isWhitespace)
        let keys = lines.compactMap { WebhookKey(String($0)) }
        guard (1...2).contains(lines.count), keys.count == lines.count else {
            throw DeliveryError.secret(file, expected: "whsec_ and the base64 of 24 to 64 bytes, or two such lines,")
        }
        return keys
    }

    /// The `webhook-id` of a message, the same at every attempt.
    static func name(of id: UUID) -> String { "msg_" + id.uuidString.lowercased() }
}

extension [WebhookKey] {
    /// The headers by which a receiver verifies sender, time and body (Standard Webhooks 1.0.0, "Webhook headers").
    func headers(id: UUID, at time: Date, body: [UInt8]) -> [(name: String, value: String)] {
        let id = WebhookKey.name(of: id)
        let timestamp = String(Int(time.timeIntervalSince1970.rounded(.down)))
        return [
            (name: "webhook-id", value: id), (name: "webhook-timestamp", value: timestamp),
            (
                name: "webhook-signature",
                value: map { $0.signature(id: id, timestamp: timestamp, body: body) }.joined(separator: " ")
            ),
        ]
    }
}
