import Domain
import Encoding
import Foundation

/// The settings of an entry with `kind: twilio`.
struct TwilioSettings: Sendable {
    /// `AC` and 32 hexadecimal digits.
    let account: String
    /// The API key (`SK…`) of the secret; empty if the secret is the account's auth token.
    let apiKey: String
    /// `From` with a number or sender id, or `MessagingServiceSid` with the service's id.
    let origin: (name: String, value: String)
    /// The file in `Keys/` with the auth token or the API key's secret.
    let secretFile: String
    let endpoint: ServiceURL

    init(_ entry: SenderEntry) throws(DeliveryError) {
        account = try entry.required(Self.account)
        apiKey = try entry.text(Self.apiKey)
        let (number, service) = (try entry.text(Self.from), try entry.text(Self.messagingService))
        guard number.isEmpty != service.isEmpty else {
            throw .sender(kind: entry.kind, key: Self.from.name, expected: "either this or messaging_service")
        }
        origin = service.isEmpty ? ("From", number) : ("MessagingServiceSid", service)
        secretFile = try entry.required(Self.secretFile)
        endpoint = try entry.url(Self.endpoint)
        guard endpoint.query.isEmpty else {
            throw .sender(kind: entry.kind, key: Self.endpoint.name, expected: "a URL without a query")
        }
    }

    static let keys = [account, apiKey, from, messagingService, secretFile, endpoint]

    private static let account = SenderKind.Key.word("account", "the account's SID (AC…)", upTo: 34)
    private static let apiKey = SenderKind.Key.word("api_key", "an API key's SID", upTo: 34)
    private static let from = SenderKind.Key.word("from", "a telephone number or a sender id", upTo: 16)
    private static let messagingService = SenderKind.Key.word(
        "messaging_service", "a messaging service's SID", upTo: 34)
    private static let secretFile = SenderKind.Key.file("secret_file", standard: "twilio.secret")
    private static let endpoint = SenderKind.Key.url("endpoint", standard: "https://api.twilio.com")
}

extension SenderKind {
    static let twilio = SenderKind(
        name: "twilio", keys: TwilioSettings.keys,
        check: { entry throws(DeliveryError) in _ = try TwilioSettings(entry) },
        make: { entry, parts in
            let settings = try TwilioSettings(entry)
            let token = try parts.token(settings.secretFile, expected: "an auth token or an API key's secret")
            guard let sender = TwilioMessages(settings, secret: token, http: parts.http) else {
                throw DeliveryError.sender(kind: entry.kind, key: "endpoint", expected: "a URL without a query")
            }
            return sender
        })
}
