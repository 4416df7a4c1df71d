import AsyncHTTPClient
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Delivery

@Suite("Twilio and the webhook, over sockets")
struct CarrierTests {
    /// Seconds that a hanging service is waited for.
    private static let patience = 1.0

    private func twilio(secret: String? = nil, timeout: Double = 60) async throws -> Failover {
        let station = try await Stations.twilio.value
        var policy = DeliveryPolicy()
        policy.senders = [
            SenderEntry(
                kind: "twilio",
                values: ["account": station.text("account"), "from": "+15005550006", "endpoint": station.url()])
        ]
        policy.attemptTimeout = timeout
        return try senders(policy, secrets: ["twilio.secret": (secret ?? station.text("token")) + "\n"])
    }

    private func webhook(_ path: String, keys: [Int] = [0], timeout: Double = 60) async throws -> Failover {
        let station = try await Stations.webhook.value
        var policy = DeliveryPolicy()
        policy.senders = [SenderEntry(kind: "webhook", values: ["url": station.url() + path])]
        policy.attemptTimeout = timeout
        let secrets = station.texts("secrets")
        return try senders(policy, secrets: ["webhook.secret": keys.map { secrets[$0] }.joined(separator: "\n")])
    }

    @Test("Twilio takes a text as its reference says")
    func twilioText() async throws {
        let station = try await Stations.twilio.value
        let body = "Your code is 1&2=3 +é€"
        let outcome = try await twilio().send(.text(to: number("2201"), body: body))
        #expect(outcome == .sent(reference: "twilio:\(station.text("sid"))"))
        let expected = "{\"Body\":\"\(body)\",\"From\":\"+15005550006\",\"To\":\"+14155552201\"}"
        #expect(try await station.seen().contains(expected))
    }

    @Test(
        "What Twilio answers is told apart, and its prose goes nowhere",
        arguments: [
            ("2211", DeliveryOutcome.refused(reason: "twilio: error 21211")),
            ("2610", .refused(reason: "twilio: error 21610")), ("2408", .unavailable(reason: "twilio: error 21408")),
            ("2429", .unavailable(reason: "twilio: error 20429")), ("2500", .unavailable(reason: "twilio: HTTP 500")),
            ("2307", .unavailable(reason: "twilio: HTTP 307")), ("2999", .unavailable(reason: "twilio: HTTP 201")),
        ])
    func twilioAnswers(end: String, expected: DeliveryOutcome) async throws {
        #expect(try await twilio().send(.text(to: number(end), body: "x")) == expected)
    }

    @Test("A wrong auth token is Twilio's 20003, and another sender may do")
    func twilioToken() async throws {
        #expect(
            try await twilio(secret: "wrong").send(.text(to: number("2201"), body: "x"))
                == .unavailable(reason: "twilio: error 20003"))
    }

    @Test("A service that hangs, or begins and does not end, is given up", arguments: ["2000", "2777"])
    func twilioHangs(end: String) async throws {
        let outcome = try await twilio(timeout: Self.patience).send(.text(to: number(end), body: "x"))
        #expect(outcome == .unavailable(reason: "twilio: no answer in time; it may have been accepted"))
    }

    @Test("Twilio carries no pushes")
    func twilioPush() async throws {
        let outcome = try await twilio().send(.push(endpoint: "arn", payload: "{}"))
        #expect(outcome == .refused(reason: "no sender carries this kind of message"))
    }

    @Test("A webhook is what standardwebhooks verifies, and its id is the message's at every attempt")
    func webhookText() async throws {
        let station = try await Stations.webhook.value
        let id = UUID()
        let sender = try await webhook("/200")
        let message = Message.text(to: try number("2301"), body: "Héllo \"x\"\n@a.example #1")
        for _ in 0..<2 {
            #expect(await sender.send(message, id: id) == .sent(reference: "webhook:msg_\(id.uuidString.lowercased())"))
        }
        let seen = try await station.seen().filter { $0.contains(id.uuidString.lowercased()) }
        #expect(seen.count == 2)
        for entry in seen {
            let event = try StrictJSON.parse(entry.utf8)
            #expect(event["event"]?["type"]?.text == "message.text")
            #expect(event["event"]?["data"]?["to"]?.text == "+14155552301")
            #expect(event["event"]?["data"]?["text"]?.text == "Héllo \"x\"\n@a.example #1")
            #expect(event["keys"] == .integer(1))
        }
    }

    @Test("A receiver that changes its key is signed for with both")
    func webhookRotation() async throws {
        let station = try await Stations.webhook.value
        let id = UUID()
        let sender = try await webhook("/204", keys: [0, 1])
        #expect(await sender.send(.push(endpoint: "arn", payload: "{}"), id: id).isSent)
        let seen = try #require(try await station.seen().first { $0.contains(id.uuidString.lowercased()) })
        #expect(try StrictJSON.parse(seen.utf8)["keys"] == .integer(2))
        #expect(seen.contains("message.push"))
    }

    @Test(
        "What a receiver answers is told apart",
        arguments: [
            ("/201", nil), ("/large", nil), ("/400", "webhook: the receiver refused the message"),
            ("/422", "webhook: the receiver refused the message"), ("/404", "webhook: HTTP 404"),
            ("/410", "webhook: HTTP 410"), ("/429", "webhook: HTTP 429"), ("/500", "webhook: HTTP 500"),
            ("/redirect", "webhook: HTTP 307"),
        ] as [(String, String?)])
    func webhookAnswers(path: String, reason: String?) async throws {
        let outcome = try await webhook(path).send(.text(to: number("2302"), body: "Answers \(path)"))
        #expect(outcome.reason == reason)
        #expect(outcome.isSent == (reason == nil))
        #expect(outcome.isRefused == (path == "/400" || path == "/422"))
        // A redirect was not followed.
        let seen = try await Stations.webhook.value.seen().filter { $0.contains("Answers \(path)\"") }
        #expect(seen.count == 1)
    }

    @Test("A receiver that hangs or drips is given up", arguments: ["/hang", "/drip"])
    func webhookHangs(path: String) async throws {
        let outcome = try await webhook(path, timeout: Self.patience).send(.text(to: number("2303"), body: "x"))
        #expect(outcome.reason == "webhook: no answer in time; it may have been accepted")
    }

    @Test("A wrong secret is found out by the receiver")
    func webhookSecret() async throws {
        var policy = DeliveryPolicy()
        let url = try await Stations.webhook.value.url() + "/200"
        policy.senders = [SenderEntry(kind: "webhook", values: ["url": url])]
        let secret = "whsec_" + Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let sender = try senders(policy, secrets: ["webhook.secret": secret])
        #expect(try await sender.send(.text(to: number("2304"), body: "x")).reason == "webhook: HTTP 401")
    }

    @Test("A certificate that nobody vouches for gets no message")
    func untrusted() async throws {
        let station = try await Stations.webhook.value
        var policy = DeliveryPolicy()
        let url = station.url(1, scheme: "https", host: "localhost") + "/200"
        policy.senders = [SenderEntry(kind: "webhook", values: ["url": url])]
        let sender = try senders(policy, secrets: ["webhook.secret": station.texts("secrets")[0]])
        let outcome = try await sender.send(.text(to: number("2305"), body: "Untrusted"))
        #expect(outcome.reason?.hasPrefix("webhook: no TLS connection") == true, "\(outcome)")
        #expect(try await !station.seen().contains { $0.contains("Untrusted") })
    }

    @Test("Whoever stops asking gets an answer at once, and nothing more is tried")
    func cancelled() async throws {
        let sender = try await webhook("/hang")
        let message = Message.text(to: try number("2306"), body: "Cancelled")
        let task = Task { await sender.send(message) }
        task.cancel()
        #expect(await task.value.reason == "webhook: cancelled")
    }
}
