import Domain
import Foundation
import Testing

@Suite("Endpoints of a device")
struct PushEndpointsTests {
    private static func arn(_ platform: String, _ id: String = "1") -> String {
        "arn:aws:sns:us-east-1:123456789012:endpoint/\(platform)/app/\(id)"
    }

    @Test("are at least one, and each push has the one for its purpose")
    func targets() throws {
        let (usual, voip) = (Self.arn("APNS"), Self.arn("APNS_VOIP"))
        #expect(PushEndpoints(usual: nil, calls: nil) == nil)
        let table: [(String?, String?, [String?])] = [
            (usual, nil, [usual, usual, usual]), (usual, voip, [usual, voip, usual]),
            // A push for VoIP must show a call, so it cannot end one.
            (nil, voip, [nil, voip, nil]), (nil, Self.arn("GCM"), [nil, Self.arn("GCM"), Self.arn("GCM")]),
        ]
        for (usual, calls, expected) in table {
            let endpoints = try #require(PushEndpoints(usual: usual, calls: calls))
            #expect(PushEndpoints.Purpose.allCases.map { endpoints.target(for: $0) } == expected)
        }
    }

    @Test("lose one that is gone, and know an app that was installed again")
    func changes() throws {
        let both = try #require(PushEndpoints(usual: "a", calls: "b"))
        #expect(both.without("a") == PushEndpoints(usual: nil, calls: "b"))
        #expect(both.without("b") == PushEndpoints(usual: "a", calls: nil) && both.without("c") == both)
        #expect(PushEndpoints(usual: "a", calls: nil)?.without("a") == nil)
        let (again, other) = (
            try #require(PushEndpoints(usual: "b", calls: nil)), try #require(PushEndpoints(usual: "c", calls: nil))
        )
        #expect(both.overlaps(again) && !both.overlaps(other))
    }

    @Test("Only an incoming call names a person", arguments: CallPush.allCases)
    func words(push: CallPush) {
        let words = push.words(caller: "AB")
        #expect((words.title + words.body).contains("AB") == (push == .ring))
        #expect(push.words(caller: nil).body.contains("Somebody") == (push == .ring))
        #expect((push.type == .call) == (push == .ring))
    }
}
