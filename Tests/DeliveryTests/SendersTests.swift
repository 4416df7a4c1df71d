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

    private static let complete = [
        SenderEntry(kind: "twilio", values: ["account": "AC1", "from": "+15005550006"]),
        SenderEntry(kind: "sns", values: ["credentials_file": "aws"]), SenderEntry(kind: "file"),
        SenderEntry(kind: "webhook", values: ["url": "https://receiver.example/texts"]),
    ]

    private func make(
        _ entries: [SenderEntry], _ secrets: [String: String] = secrets, environment: [String: String] = [:],
        isLoopbackOnly: Bool = true
    ) throws -> [String] {
        try SenderFactory(
            DeliveryPolicy(), secret: { secrets[$0] ?? "" }, environment: environment, texts: "t",
            isLoopbackOnly: isLoopbackOnly, http: Stations.http, now: { Date() }
        ).make(entries).senders.map(\.name)
    }

    @Test("are made in its order; the default is the file")
    func order() throws {
        #expect(try make(Self.complete) == ["twilio", "sns", "file", "webhook"])
        #expect(try make(DeliveryPolicy().senders, [:]) == ["file"])
    }

    @Test("are refused at the start if a value or a secret is missing or cannot be used")
    func refusals() throws {
        let (twilio, sns, webhook) = (0, 1, 3)
        let changes: [(sender: Int, key: String, value: String)] = [
            (sns, "region", ""), (sns, "region", "us/east"), (sns, "credentials_file", ""),
            (sns, "endpoint", "http://sns.example"), (twilio, "account", ""), (twilio, "from", ""),
            (twilio, "messaging_service", "MG1"), (twilio, "endpoint", "https://api.twilio.example?x"),
            (webhook, "url", ""), (webhook, "url", "http://receiver.example"),
            (webhook, "url", "https://user@receiver.example"), (webhook, "url", "ftp://receiver.example"),
        ]
        for change in changes {
            var entries = Self.complete
            entries[change.sender].values[change.key] = change.value
            #expect(throws: DeliveryError.self, "\(change)") { try make(entries) }
        }
        #expect(throws: DeliveryError.self) { try make([]) }
        #expect(throws: DeliveryError.self) { try make([SenderEntry(kind: "pigeon")]) }
        for name in Self.secrets.keys {
            for text in ["", "a b", "whsec_QUJD\nx y", "é"] {
                var secrets = Self.secrets
                secrets[name] = text
                #expect(throws: DeliveryError.self, "\(name)") { try make(Self.complete, secrets) }
            }
        }
        #expect(throws: DeliveryError.fileOffLoopback) { try make(Self.complete, isLoopbackOnly: false) }
    }

    @Test("take Amazon's credentials from the environment where no file is named")
    func environment() throws {
        let environment = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B"]
        #expect(try make([SenderEntry(kind: "sns")], [:], environment: environment) == ["sns"])
    }

    @Test("tell of no secret when they are described")
    func descriptions() throws {
        let sender = try SenderFactory(
            DeliveryPolicy(), secret: { Self.secrets[$0] ?? "" }, environment: [:], texts: "t", isLoopbackOnly: true,
            http: Stations.http, now: { Date() }
        ).make(Self.complete)
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
