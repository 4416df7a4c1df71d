import AsyncHTTPClient
import Domain
import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Delivery

@Suite("Amazon SNS, as moto plays it with signatures checked")
struct SimpleNotificationServiceTests {
    private let station: Station

    init() async throws {
        station = try await Stations.sns.value
    }

    private func policy(endpoint: String? = nil) -> DeliveryPolicy {
        var policy = DeliveryPolicy()
        policy.senders = [
            SenderEntry(
                kind: "sns",
                values: [
                    "region": station.text("region"), "endpoint": endpoint ?? station.url(), "sender_id": "Countersgn",
                    "credentials_file": "aws",
                ])
        ]
        policy.attemptTimeout = 60
        return policy
    }

    private static func file(_ key: [String]) -> String {
        "[default]\naws_access_key_id=\(key[0])\naws_secret_access_key=\(key[1])\n"
            + (key.count > 2 ? "aws_session_token=\(key[2])\n" : "")
    }

    private func sender(_ key: [String]) throws -> Failover {
        try senders(policy(), secrets: ["aws": Self.file(key)])
    }

    /// What moto keeps of texts and pushes.
    private func arrived() async throws -> String {
        String(decoding: try await station.document("/moto-api/data.json"), as: UTF8.self)
    }

    @Test("A text arrives at its number, signs of every kind in it")
    func text() async throws {
        let body = "Your code is 000001. +&=%20 é€[~]\n\n@auth.example #000001"
        let outcome = try await sender(station.texts("key")).send(.text(to: number("2201"), body: body))
        guard case .sent(let reference) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let data = try JSONSerialization.jsonObject(with: try await station.document("/moto-api/data.json"))
        let texts = ((data as? [String: Any])?["sns"] as? [String: Any])?["SMS"] as? [[String: Any]]
        let arrived = texts?.first { "sns:\($0["message_id"] ?? "")" == reference }
        #expect(arrived?["message"] as? String == body)
        #expect(arrived?["phone_number"] as? String == "+14155552201")
    }

    @Test("Temporary credentials are taken with their session token and refused without")
    func temporary() async throws {
        let key = station.texts("temporary")
        let message = Message.text(to: try number("2202"), body: "Temporary")
        #expect(try await sender(key).send(message).isSent)
        #expect(
            try await sender(Array(key.prefix(2))).send(message)
                == .unavailable(reason: "sns: InvalidClientTokenId"))
    }

    @Test("A wrong secret, and a key that there is not, send nothing; another sender may")
    func wrongSecret() async throws {
        let key = station.texts("key")
        let message = Message.text(to: try number("2203"), body: "Never to arrive")
        #expect(
            try await sender([key[0], key[1] + "x"]).send(message)
                == .unavailable(reason: "sns: SignatureDoesNotMatch"))
        #expect(
            try await sender(["AKIAX", key[1]]).send(message) == .unavailable(reason: "sns: InvalidClientTokenId"))
        #expect(try await !arrived().contains("Never to arrive"))
    }

    @Test("Credentials that are replaced while the service runs are used at once")
    func rotation() async throws {
        let key = station.texts("key")
        let current = Mutex(Self.file([key[0], "before"]))
        let sender = try SenderFactory(
            policy(), secret: { _ in current.withLock { $0 } }, environment: [:], texts: "", isLoopbackOnly: false,
            http: Stations.http, now: { Date() }
        ).make(policy().senders)
        let message = Message.text(to: try number("2204"), body: "Rotation")
        #expect(await !sender.send(message).isSent)
        current.withLock { $0 = Self.file(key) }
        #expect(await sender.send(message).isSent)
        current.withLock { $0 = "" }
        #expect(await sender.send(message) == .unavailable(reason: "sns: no credentials"))
    }

    @Test("A push arrives at its endpoint, in every platform's form")
    func push() async throws {
        let payload = try #require(
            PushNotification(.request, title: "Täst", body: "Somebody asks", data: [("age", "25")]).payload)
        let sender = try sender(station.texts("key"))
        let outcome = await sender.send(.push(endpoint: station.text("live"), payload: payload))
        #expect(outcome.isSent)
        let arrived = try await arrived()
        #expect(
            arrived.contains("Somebody asks") && arrived.contains("fcmV1Message") && arrived.contains("APNS_SANDBOX"))
    }

    @Test("A call's push is taken with its attributes")
    func call() async throws {
        let push = PushNotification(.call, title: "Incoming call", body: "Somebody rings")
        let payload = try #require(push.callPayload(id: "call-1", seconds: 30, isRinging: true))
        let message = Message.push(
            endpoint: station.text("live"), payload: payload, urgency: .call(id: "call-1", seconds: 30))
        #expect(try await sender(station.texts("key")).send(message).isSent)
        #expect(try await arrived().contains("Somebody rings"))
    }

    @Test("An endpoint that was disabled or deleted is gone")
    func gone() async throws {
        let payload = try #require(PushNotification(nil, title: "a", body: "b").payload)
        let sender = try sender(station.texts("key"))
        for name in ["disabled", "deleted"] {
            #expect(await sender.send(.push(endpoint: station.text(name), payload: payload)) == .endpointGone)
        }
    }

    @Test("What is no endpoint of the region, and what is no payload, is never sent")
    func foreignEndpoint() async throws {
        let sender = try sender(station.texts("key"))
        let payload = try #require(PushNotification(nil, title: "a", body: "b").payload)
        let live = station.text("live")
        for endpoint in [station.text("topic"), live.replacing("us-east-1", with: "us-east-2"), "", "arn:aws:sns"] {
            #expect(await sender.send(.push(endpoint: endpoint, payload: payload)).isRefused)
        }
        for payload in ["", "text", "{}", "{\"default\":1}", "{\"APNS\":\"a\"}"] {
            #expect(await sender.send(.push(endpoint: live, payload: payload)).isRefused)
        }
    }

    @Test("No one there is unavailable")
    func nobody() async throws {
        let sender = try senders(
            policy(endpoint: "http://127.0.0.1:1"), secrets: ["aws": Self.file(station.texts("key"))])
        #expect(
            try await sender.send(.text(to: number("2205"), body: "x")) == .unavailable(reason: "sns: no connection"))
    }
}

extension DeliveryOutcome {
    var isSent: Bool { if case .sent = self { true } else { false } }
    var isRefused: Bool { if case .refused = self { true } else { false } }
    /// The reason of a refusal or of unavailability.
    var reason: String? {
        switch self {
        case .refused(let reason), .unavailable(let reason, _): reason
        case .sent, .endpointGone, .receiverGone: nil
        }
    }
}
