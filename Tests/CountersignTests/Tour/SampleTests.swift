import Fixtures
import Foundation
import Testing

@testable import Forum

@Suite("The samples", .serialized)
struct SampleTests {
    @Test(
        "are walked as their users do, good and bad: a forum that relies on sessions, a messenger, a reading service",
        arguments: [
            ("forum", "forum"), ("browser", "forum"), ("msgr", "msgr"), ("reader", "reader"), ("recordings", "reader"),
        ])
    func walk(script: String, name: String) async throws {
        // The messenger's devices register for pushes.
        let phones = "push_applications: ['arn:aws:sns:us-east-1:123456789012:app/GCM/msgr']\n"
        let service = try await RunningService(policies: ["phones.yaml": phones], arguments: ["--loopback-urls"])
        try await expectScript(
            "Samples/sample_\(script).py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--sample",
                try RunningService.product(name), "--directory", service.directory.path,
            ], seconds: 400)
    }

    @Test("take a picture from public addresses only, in whatever spelling")
    func addresses() async throws {
        let inside = [
            "127.0.0.1", "10.1.2.3", "100.64.0.1", "100.127.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255",
            "192.168.1.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
            "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "0.0.0.0", "0x7f.1", "2130706433", "::1", "::",
            "::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1", "fd00::1", "ff02::1", "2001::1", "2001:db8::1",
            "2002:a00:1::1", "3fff::1",
        ]
        for name in inside {
            let found = try await NetworkAddress.resolve(name)
            #expect(!found.isEmpty && found.allSatisfy { !$0.isPublic }, "\(name)")
        }
        for name in ["1.1.1.1", "100.63.255.255", "100.128.0.1", "172.32.0.1", "9.255.255.255", "2606:4700::1111"] {
            #expect(try await NetworkAddress.resolve(name).allSatisfy(\.isPublic), "\(name)")
        }
    }
}
