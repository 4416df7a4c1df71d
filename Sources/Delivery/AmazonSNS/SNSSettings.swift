import Domain
import Encoding

/// The settings of an entry with `kind: sns`.
struct SNSSettings: Sendable {
    let region: String
    let endpoint: ServiceURL
    /// The sender that users see, if the country allows it; empty for none.
    let senderID: String
    /// The number to send from; empty if SNS chooses it.
    let originationNumber: String
    /// The file in `Keys/` with Amazon's credentials; empty to use the environment.
    let credentialsFile: String

    init(_ entry: SenderEntry) throws(DeliveryError) {
        region = try entry.required(Self.region)
        // AWS General Reference, "Amazon SNS endpoints and quotas"; China is a partition of its own.
        let usual = "https://sns.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
        let named = try entry.text(Self.endpoint)
        guard let url = ServiceURL(named.isEmpty ? usual : named) else {
            throw .sender(kind: entry.kind, key: Self.endpoint.name, expected: Self.endpoint.expected)
        }
        endpoint = url
        senderID = try entry.text(Self.senderID)
        originationNumber = try entry.text(Self.originationNumber)
        credentialsFile = try entry.text(Self.credentialsFile)
    }

    static let keys = [region, endpoint, senderID, originationNumber, credentialsFile]

    private static let region = SenderKind.Key(
        name: "region", standard: "us-east-1", expected: "a region such as us-east-1"
    ) { text in
        text.utf8.count <= 32
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
    private static let endpoint = SenderKind.Key.url("endpoint")
    private static let senderID = SenderKind.Key.word("sender_id", "1 to 11 letters and digits", upTo: 11)
    private static let originationNumber = SenderKind.Key.word("origination_number", "a telephone number", upTo: 16)
    private static let credentialsFile = SenderKind.Key.file("credentials_file")
}

extension SenderKind {
    static let sns = SenderKind(
        name: "sns", keys: SNSSettings.keys, check: { entry throws(DeliveryError) in _ = try SNSSettings(entry) },
        make: { entry, parts in
            let settings = try SNSSettings(entry)
            let (file, environment, secret) = (settings.credentialsFile, parts.environment, parts.secret)
            let credentials: @Sendable () throws -> AmazonCredentials = {
                file.isEmpty
                    ? try AmazonCredentials(environment: environment)
                    : try AmazonCredentials(sharedFile: try secret(file), place: file)
            }
            // Reports unusable credentials at the start.
            _ = try credentials()
            return SimpleNotificationService(settings, credentials: credentials, http: parts.http, now: parts.now)
        })
}
