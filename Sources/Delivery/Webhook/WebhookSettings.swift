import Domain
import Encoding

/// The settings of an entry with `kind: webhook`.
struct WebhookSettings: Sendable {
    let url: ServiceURL
    /// The file in `Keys/` with the secret that signs the webhook.
    let secretFile: String

    init(_ entry: SenderEntry) throws(DeliveryError) {
        url = try entry.url(Self.url)
        secretFile = try entry.required(Self.secretFile)
    }

    static let keys = [url, secretFile]

    private static let url = SenderKind.Key.url("url")
    private static let secretFile = SenderKind.Key.file("secret_file", standard: "webhook.secret")
}

extension SenderKind {
    /// The operator's own receiver, called by Standard Webhooks.
    static let webhook = SenderKind(
        name: "webhook", keys: WebhookSettings.keys,
        check: { entry throws(DeliveryError) in _ = try WebhookSettings(entry) },
        make: { entry, parts in
            let settings = try WebhookSettings(entry)
            let keys = try WebhookKey.list(try parts.secret(settings.secretFile), file: settings.secretFile)
            return WebhookSender(url: settings.url, keys: keys, http: parts.http, now: parts.now)
        })
}
