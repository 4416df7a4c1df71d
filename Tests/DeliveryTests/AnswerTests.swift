import Domain
import Encoding
import Foundation
import Testing

@testable import Delivery

@Suite("Carriers' answers")
struct AnswerTests {
    private static let error = """
        <?xml version="1.0"?>
        <ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>CODE</Code>\
        <Message>MESSAGE</Message></Error><RequestId>1</RequestId></ErrorResponse>
        """

    private static func outcome(
        _ code: String, _ message: String = "", _ status: UInt = 400, push: Bool
    ) throws -> DeliveryOutcome {
        let body = error.replacing("CODE", with: code).replacing("MESSAGE", with: message)
        let number = try number("2201")
        return SimpleNotificationService.outcome(
            of: .answered(status: status, body: Array(body.utf8)),
            to: push ? .push(endpoint: "e", payload: "p") : .text(to: number, body: "b"))
    }

    @Test("SNS on a dead endpoint, in each of its ways")
    func dead() throws {
        #expect(try Self.outcome("EndpointDisabled", push: true) == .endpointGone)
        #expect(try Self.outcome("NotFound", "Endpoint does not exist", 404, push: true) == .endpointGone)
        let deleted = "Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified"
        #expect(try Self.outcome("InvalidParameter", deleted, push: true) == .endpointGone)
        #expect(
            try Self.outcome("InvalidParameter", "Invalid parameter: Message too long", push: true)
                == .refused(reason: "InvalidParameter"))
        // A text has no endpoint: not found is the service itself.
        #expect(try Self.outcome("NotFound", push: false) == .unavailable(reason: "NotFound"))
    }

    @Test("SNS by a text that is not stream-safe: nothing of it is compared")
    func hostile() throws {
        let marks = "a" + String(repeating: "\u{301}", count: 20_000)
        let body = Self.error.replacing("CODE", with: "EndpointDisabled").replacing("MESSAGE", with: marks)
        #expect(SNSResponse(Array(body.utf8)) == nil)
    }

    @Test("SNS on a text: a refusal only where it is about the message, and no word of the prose")
    func texts() throws {
        for code in ["InvalidParameter", "InvalidParameterValue", "OptedOut", "ValidationError"] {
            #expect(try Self.outcome(code, "+14155552201 will not do", push: false) == .refused(reason: code))
        }
        for code in [
            "Throttling", "InternalError", "AuthorizationError", "ExpiredToken", "PlatformApplicationDisabled",
        ] {
            #expect(try Self.outcome(code, "+14155552201 will not do", push: true) == .unavailable(reason: code))
        }
    }

    @Test("An answer that is not SNS's is no acceptance, and is not quoted")
    func foreign() throws {
        let good =
            "<PublishResponse xmlns=\"n\"><PublishResult><MessageId>a-1</MessageId></PublishResult></PublishResponse>"
        #expect(SNSResponse(Array(good.utf8)) == .messageID("a-1"))
        #expect(SNSResponse(Array(("<?xml version=\"1.0\"?>\n" + good + "\n").utf8)) == .messageID("a-1"))
        let bad = [
            "", "<html>", good + "x", "x" + good, good.replacing("a-1", with: ""), good.replacing("a-1", with: "a b"),
            good.replacing("a-1", with: "<b/>"), good.replacing("</MessageId>", with: "<MessageId>b</MessageId>"),
            "<!DOCTYPE x>" + good, good.replacing("a-1", with: "<![CDATA[a]]>"), good.replacing("a-1", with: "&a;"),
            good.replacing("PublishResponse", with: "PublishResponses"), "<PublishResponse></PublishResponse>",
            "</PublishResponse><PublishResponse>", "<?xml version=\"1.0\"", "<PublishResponse", "<?xml ?>",
            String(repeating: "<MessageId>", count: 5000),
            good.replacing("a-1", with: String(repeating: "a", count: 101)),
        ]
        for text in bad {
            #expect(SNSResponse(Array(text.utf8)) == nil, "\(text)")
            let outcome = SimpleNotificationService.outcome(
                of: .answered(status: 200, body: Array(text.utf8)), to: .push(endpoint: "", payload: ""))
            #expect(outcome == .unavailable(reason: "HTTP 200 without a response of SNS"))
        }
        #expect(SNSResponse([0xFF, 0xFE]) == nil)
    }

    @Test("Bent answers of SNS are read in bounded time or not at all")
    func bent() throws {
        var random = SplitMix64(seed: 7)
        let source = Array(Self.error.utf8)
        for _ in 0..<3000 {
            var bytes = source
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[..<index], at: index)
                }
            }
            if case .messageID? = SNSResponse(bytes) { Issue.record("an error was read as an acceptance") }
        }
    }

    @Test("A push has a part for each platform, and none over the limit")
    func notification() throws {
        let payload = try #require(
            PushNotification(.request, title: "T", body: "B\"\\\n", data: [("id", "1"), ("kind", "x")]).payload)
        let value = try StrictJSON.parse(payload.utf8)
        #expect(value["default"]?.text == "B\"\\\n")
        let apple = try StrictJSON.parse(try #require(value["APNS"]?.text).utf8)
        #expect(apple["aps"]?["alert"]?["body"]?.text == "B\"\\\n" && apple["kind"]?.text == "x")
        #expect(apple["type"]?.text == "REQUEST")
        let firebase = try StrictJSON.parse(try #require(value["GCM"]?.text).utf8)["fcmV1Message"]?["message"]
        #expect(firebase?["notification"]?["title"]?.text == "T" && firebase?["data"]?["id"]?.text == "1")
        #expect(PushNotification.isPayload(payload))
        #expect(PushNotification(nil, title: "", body: String(repeating: "x", count: 4096)).payload == nil)
        #expect(PushNotification(.message, title: "", body: "", data: [("type", "x")]).payload == nil)
        #expect(PushNotification(nil, title: "", body: "", data: [("aps", "1")]).payload == nil)
        #expect(PushNotification(nil, title: "", body: "", data: [("a", "1"), ("a", "2")]).payload == nil)
    }
}
