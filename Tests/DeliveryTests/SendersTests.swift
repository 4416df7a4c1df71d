import Domain
import Encoding
import Foundation
import Testing

@testable import Delivery

@Suite("Senders of a policy")
struct SendersTests {
    private static let secrets = [
        "aws": "[default]\naws_access_key_id=A\naws_secret_access_key=B", "twilio.secret": "token",
        "webhook.secret": "whsec_" + String(repeating: "QUJD", count: 8),
    ]

    private static func complete() -> DeliveryPolicy {
        var policy = DeliveryPolicy()
        policy.senders = [.twilio, .sns, .file, .webhook]
        policy.snsCredentialsFile = "aws"
        policy.twilioAccount = "AC1"
        policy.twilioFrom = "+15005550006"
        policy.webhookURL = "https://receiver.example/texts"
        return policy
    }

    private func make(
        _ policy: DeliveryPolicy, _ secrets: [String: String] = secrets, environment: [String: String] = [:],
        isLoopbackOnly: Bool = true
    ) throws -> [String] {
        try Delivery.senders(
            policy, secret: { secrets[$0] ?? "" }, environment: environment, texts: "t",
            isLoopbackOnly: isLoopbackOnly, http: Stations.http, now: { Date() }
        ).senders.map(\.name)
    }

    @Test("are made in its order; the default is the file")
    func order() throws {
        #expect(try make(Self.complete()) == ["twilio", "sns", "file", "webhook"])
        #expect(try make(DeliveryPolicy(), [:]) == ["file"])
    }

    @Test("are refused at the start where a value or a secret is missing or cannot be used")
    func refusals() throws {
        let changes: [(inout DeliveryPolicy) -> Void] = [
            { $0.senders = [] }, { $0.snsRegion = "" }, { $0.snsRegion = "us/east" }, { $0.snsCredentialsFile = "" },
            { $0.snsEndpoint = "http://sns.example" }, { $0.twilioAccount = "" }, { $0.twilioFrom = "" },
            { $0.twilioMessagingService = "MG1" }, { $0.twilioEndpoint = "https://api.twilio.example?x" },
            { $0.webhookURL = "" }, { $0.webhookURL = "http://receiver.example" },
            { $0.webhookURL = "https://user@receiver.example" }, { $0.webhookURL = "ftp://receiver.example" },
        ]
        for (index, change) in changes.enumerated() {
            var policy = Self.complete()
            change(&policy)
            #expect(throws: DeliveryError.self, "\(index)") { try make(policy) }
        }
        for name in Self.secrets.keys {
            for text in ["", "a b", "whsec_QUJD\nx y", "é"] {
                var secrets = Self.secrets
                secrets[name] = text
                #expect(throws: DeliveryError.self, "\(name)") { try make(Self.complete(), secrets) }
            }
        }
        #expect(throws: DeliveryError.fileOffLoopback) { try make(Self.complete(), isLoopbackOnly: false) }
    }

    @Test("take Amazon's credentials from the environment where no file is named")
    func environment() throws {
        var policy = DeliveryPolicy()
        policy.senders = [.sns]
        #expect(
            try make(policy, [:], environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B"]) == ["sns"])
    }

    @Test("tell of no secret when they are described")
    func descriptions() throws {
        let sender = try Delivery.senders(
            Self.complete(), secret: { Self.secrets[$0] ?? "" }, environment: [:], texts: "t", isLoopbackOnly: true,
            http: Stations.http, now: { Date() })
        var dumped = "\(sender)"
        // As deep as the senders' own parts, and not into the client that they share.
        dump(sender, to: &dumped, maxDepth: 4)
        dump(WebhookKey("whsec_" + String(repeating: "QUJD", count: 8)), to: &dumped)
        let basic = Data("AC1:token".utf8).base64EncodedString()
        for secret in ["\"token\"", basic, String(repeating: "QUJD", count: 8), String(repeating: "ABC", count: 8)] {
            #expect(!dumped.contains(secret))
        }
    }

    @Test(
        "go over https, or over http to this machine alone",
        arguments: [
            ("https://a.example", "a.example", "/", ""), ("https://A.example:443/x?y=z", "a.example", "/x", "y=z"),
            ("https://a.example:8443/", "a.example:8443", "/", ""), ("http://127.0.0.1:80", "127.0.0.1", "/", ""),
            ("http://127.9.9.9:81/a", "127.9.9.9:81", "/a", ""), ("http://[::1]:8080?q", "[::1]:8080", "/", "q"),
            ("http://localhost/", "localhost", "/", ""), ("https://[2001:db8::1]/", "[2001:db8::1]", "/", ""),
        ])
    func urls(text: String, host: String, path: String, query: String) throws {
        let url = try #require(ServiceURL(text))
        #expect((url.host, url.path, url.query) == (host, path, query))
        #expect(ServiceURL(url.description) == url)
    }

    @Test(
        "and nowhere else",
        arguments: [
            "", "https://", "http://a.example", "http://128.0.0.1", "http://127.0.0.1.example", "http://127.1",
            "https://u@a.example", "https://a.example:0", "https://a.example:70000", "https://a.example:x",
            "https://a.example/#f", "https://a example", "HTTPS://a.example", "https://[::1", "https://[]",
            "https://é.example", "https://a..example", "https://-a.example", "https://1.2.3", "https://1.2.3.256",
            "https://01.2.3.4", "https://0x7f.1", "https://[::1%25lo]", "https://a_b.example", "file:///etc",
            "https://a.example/\n", "http://[::2]", "http://localhost.example",
        ])
    func foreignURLs(text: String) {
        #expect(ServiceURL(text) == nil)
    }
}
