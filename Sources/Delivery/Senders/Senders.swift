import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// The senders that the policy names, in its order, ready to send.
///
/// - Parameters:
///   - policy: `Policies/delivery.yaml`.
///   - secret: reads a file of `Keys/` by its name. Whatever it throws comes through at the start. The file of Amazon's
///     credentials is read again before each attempt, since temporary ones are replaced; the others are read once.
///   - environment: the process's variables, for Amazon's credentials where no file is named.
///   - texts: the path that the `file` sender appends to.
///   - isLoopbackOnly: whether nothing but this machine reaches any listener; the `file` sender wants it so.
///   - http: a client made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`, which outlives the senders.
///   - now: the time of signatures and of lines.
/// - Throws: ``DeliveryError``, or what `secret` throws.
package func senders(
    _ policy: DeliveryPolicy, secret: @escaping @Sendable (_ file: String) throws -> String,
    environment: [String: String], texts: String, isLoopbackOnly: Bool, http: HTTPClient,
    now: @escaping @Sendable () -> Date
) throws -> Failover {
    guard !policy.senders.isEmpty else {
        throw DeliveryError.policy("senders", expected: "at least one of sns, twilio, webhook, file")
    }
    let assembly = Assembly(
        policy: policy, secret: secret, environment: environment,
        http: BoundedHTTPClient(http: http, timeout: policy.attemptTimeout), now: now)
    return Failover(
        try policy.senders.map { kind -> any Sender in
            switch kind {
            case .sns: return try assembly.simpleNotificationService()
            case .twilio: return try assembly.twilioMessages()
            case .webhook: return try assembly.webhook()
            case .file:
                guard isLoopbackOnly else { throw DeliveryError.fileOffLoopback }
                return TextFile(path: texts, now: now)
            }
        })
}

/// One sender of policy and secrets at a time.
private struct Assembly {
    let policy: DeliveryPolicy
    let secret: @Sendable (String) throws -> String
    let environment: [String: String]
    let http: BoundedHTTPClient
    let now: @Sendable () -> Date

    func simpleNotificationService() throws -> SimpleNotificationService {
        let region = policy.snsRegion
        guard !region.isEmpty, region.utf8.count <= 32,
            region.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
        else { throw DeliveryError.policy("sns_region", expected: "a region such as us-east-1") }
        // AWS General Reference, "Amazon SNS endpoints and quotas"; China is a partition of its own.
        let usual = "https://sns.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
        let endpoint = try url("sns_endpoint", policy.snsEndpoint.isEmpty ? usual : policy.snsEndpoint)
        let (file, environment, secret) = (policy.snsCredentialsFile, environment, secret)
        let credentials: @Sendable () throws -> AmazonCredentials = {
            file.isEmpty
                ? try AmazonCredentials(environment: environment)
                : try AmazonCredentials(sharedFile: try secret(file), place: file)
        }
        // What is wrong from the start is told at the start.
        _ = try credentials()
        return SimpleNotificationService(
            endpoint: endpoint, region: region, senderID: policy.snsSenderID,
            originationNumber: policy.snsOriginationNumber, credentials: credentials, http: http, now: now)
    }

    func twilioMessages() throws -> TwilioMessages {
        let service = policy.twilioMessagingService
        guard !policy.twilioAccount.isEmpty else {
            throw DeliveryError.policy("twilio_account", expected: "the account's SID (AC…)")
        }
        guard policy.twilioFrom.isEmpty != service.isEmpty else {
            throw DeliveryError.policy("twilio_from", expected: "either this or twilio_messaging_service")
        }
        let token = try line(policy.twilioSecretFile, expected: "an auth token or an API key's secret")
        let sender = TwilioMessages(
            endpoint: try url("twilio_endpoint", policy.twilioEndpoint),
            credentials: .init(account: policy.twilioAccount, apiKey: policy.twilioAPIKey, secret: Secret(token)),
            origin: service.isEmpty ? ("From", policy.twilioFrom) : ("MessagingServiceSid", service),
            http: http)
        guard let sender else { throw DeliveryError.policy("twilio_endpoint", expected: "a URL without a query") }
        return sender
    }

    func webhook() throws -> WebhookSender {
        let file = policy.webhookSecretFile
        let keys = try WebhookKey.list(try secret(file), file: file)
        return WebhookSender(url: try url("webhook_url", policy.webhookURL), keys: keys, http: http, now: now)
    }

    private func url(_ key: String, _ text: String) throws(DeliveryError) -> ServiceURL {
        guard let url = ServiceURL(text) else {
            throw .policy(key, expected: "an https URL, or an http URL on loopback,")
        }
        return url
    }

    /// The one line of a secret file.
    private func line(_ file: String, expected: String) throws -> String {
        let text = try secret(file).trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw DeliveryError.secret(file, expected: expected)
        }
        return text
    }
}
