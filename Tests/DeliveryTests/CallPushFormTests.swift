import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Delivery

@Suite("The form of a call's push")
struct CallPushFormTests {
    private static func endpoint(_ platform: String) -> String {
        "arn:aws:sns:us-east-1:123456789012:endpoint/\(platform)/app/1"
    }

    @Test("wakes each platform: Apple's parts make a sound, and Firebase's has data alone")
    func payload() throws {
        let push = PushNotification(.call, title: "T", body: "B", data: [("stream_id", "1")])
        let ringing = try StrictJSON.parse(try #require(push.callPayload(id: "1", seconds: 30, isRinging: true)).utf8)
        for platform in ["APNS", "APNS_SANDBOX", "APNS_VOIP", "APNS_VOIP_SANDBOX"] {
            let apple = try StrictJSON.parse(try #require(ringing[platform]?.text).utf8)
            #expect(apple["aps"]?["alert"]?["title"]?.text == "T" && apple["aps"]?["sound"]?.text == "default")
            #expect(apple["type"]?.text == "CALL")
        }
        let firebase = try StrictJSON.parse(try #require(ringing["GCM"]?.text).utf8)["fcmV1Message"]?["message"]
        #expect(firebase?["notification"] == nil && firebase?["data"]?["title"]?.text == "T")
        #expect(firebase?["android"]?["priority"]?.text == "high" && firebase?["android"]?["ttl"]?.text == "30s")
        let end = try #require(push.callPayload(id: "1", seconds: 0, isRinging: false))
        #expect(!end.contains("sound") && PushNotification.isPayload(end))
        #expect(
            PushNotification(.call, title: "", body: "", data: [("title", "x")]).callPayload(
                id: "1", seconds: 1, isRinging: true) == nil)
        let long = PushNotification(.call, title: "", body: String(repeating: "x", count: 4096))
        #expect(long.callPayload(id: "1", seconds: 1, isRinging: true) == nil)
    }

    @Test("has the attributes of its platform, and other pushes have none")
    func attributes() {
        func attributes(_ platform: String, _ urgency: PushUrgency = .call(id: "c", seconds: 30)) -> [String: String] {
            let all = SimpleNotificationService.attributes(of: urgency, for: Self.endpoint(platform))
            return Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0.value) })
        }
        for (platform, type) in [("APNS", "alert"), ("APNS_SANDBOX", "alert"), ("APNS_VOIP", "voip")] {
            #expect(
                attributes(platform) == [
                    "AWS.SNS.MOBILE.\(platform).TTL": "30", "AWS.SNS.MOBILE.APNS.PUSH_TYPE": type,
                    "AWS.SNS.MOBILE.APNS.PRIORITY": "10", "AWS.SNS.MOBILE.APNS.COLLAPSE_ID": "c",
                ])
        }
        #expect(attributes("GCM") == ["AWS.SNS.MOBILE.FCM.TTL": "30"])
        #expect(attributes("GCM", .call(id: "c", seconds: -5)) == ["AWS.SNS.MOBILE.FCM.TTL": "1"])
        #expect(attributes("APNS", .usual).isEmpty)
        #expect(SimpleNotificationService.attributes(of: .call(id: "c", seconds: 1), for: "arn:aws:sns:x").isEmpty)
    }

    @Test("A webhook answers 410 if the endpoint of a push is gone, and to a text it is a failure")
    func gone() throws {
        let answer = BoundedHTTPClient.Answer.answered(status: 410, body: [])
        let push = WebhookSender.outcome(of: answer, to: .push(endpoint: "e", payload: "{}"), id: "1")
        #expect(push == .endpointGone)
        let text = WebhookSender.outcome(of: answer, to: .text(to: try number("2201"), body: "b"), id: "1")
        #expect(text == .unavailable(reason: "HTTP 410"))
    }
}
