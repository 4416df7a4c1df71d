import CountersignClient
import Fixtures
import Foundation
import Testing

@Suite("Pushes of an app")
struct PushTests {
    private static let endpoint = "arn:aws:sns:us-east-1:123456789012:endpoint/GCM/app/"

    @Test("go to each device that registers, without a proven number")
    func registration() async throws {
        let phones = "push_applications: ['arn:aws:sns:us-east-1:123456789012:app/GCM/app']\n"
        let service = try await LiveService(policies: ["phones.yaml": phones])
        for number in 1...2 {
            let app = try App(service.service())
            try await app.client.certify()
            try await app.client.signIn(service.source("alice"))
            let (usual, calls) = (Self.endpoint + "\(number)", Self.endpoint + "calls-\(number)")
            for _ in 0..<2 {
                let both = try await app.client.registerForPushes(usual, calls: calls)
                #expect(both.usual == usual && both.calls == calls)
            }
            let one = try await app.client.registerForPushes(usual)
            #expect(one.usual == usual && one.calls == nil)
            await expectRefusal(.malformedRequest) { try await app.client.registerForPushes("arn:aws:sns:x") }
            let none = try await app.client.registerForPushes(nil)
            #expect(none.usual == nil && none.calls == nil)
        }
    }

    @Test("of calls are read from their data, and others are not such")
    func calls() throws {
        let stream = UUID()
        let data = [
            "type": "CALL", "stream_id": stream.uuidString.lowercased(), "expires_at": "2026-11-22T12:00:00Z",
            "initials": "AB",
        ]
        let until = try Date("2026-11-22T12:00:00Z", strategy: .iso8601)
        #expect(CallPush(data) == .incoming(stream: stream, until: until, initials: "AB"))
        for (name, reason) in [
            ("answered", CallPush.Reason.answered), ("declined", .declined), ("given_up", .givenUp),
            ("missed", .missed),
        ] {
            let end = ["type": "CALL_END", "stream_id": stream.uuidString, "reason": name]
            #expect(CallPush(end) == .ended(stream: stream, reason: reason))
        }
        for (name, value) in [("type", "APPROVAL"), ("stream_id", "x"), ("expires_at", "later")] {
            #expect(CallPush(data.merging([name: value]) { $1 }) == nil)
        }
        // A provider chooses the data of its notifications.
        #expect(CallPush(data.merging(["notification_id": "x"]) { $1 }) == nil)
        #expect(CallPush(["type": "CALL_END", "stream_id": stream.uuidString, "reason": "why"]) == nil)
    }
}
