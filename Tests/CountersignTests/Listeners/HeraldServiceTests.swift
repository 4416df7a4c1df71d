import Fixtures
import Foundation
import Testing

/// Herald against the running service, by Apache's Thrift and the tables of the protocol.
@Suite("Herald against the running service", .serialized)
struct HeraldServiceTests {
    @Test("begins, authenticates, carries calls and pushes, is bounded, and ends with a session and with a ban")
    func walk() async throws {
        let service = try await RunningService(policies: [
            "streams.yaml": "conversation_requires: provider\nrequired_level: none\n"
        ])
        let output = try await expectScript(
            "Messaging/herald.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                "--interface", RunningService.root.appending(path: "Sources/SwiftSDK/Herald/herald.thrift").path,
            ], seconds: 400)
        FileHandle.standardError.write(Data(output.utf8))
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("\"level\":\"error\""))
        // A call has the line of its route; a token stands in none.
        #expect(log.contains("\"protocol\":\"herald\"") && log.contains("\"code\":\"binding_mismatch\""))
        #expect(!log.contains("Bearer") && !log.contains("session_token"))
        // A refusal has the parties that the token proved: none if it is of another device.
        let refused = try service.logLines("\"method\":\"AUTH\"")
        for (code, isProven) in [("session_challenged", true), ("user_banned", true), ("binding_mismatch", false)] {
            let lines = refused.filter { $0.contains("\"code\":\"\(code)\"") }
            #expect(!lines.isEmpty && lines.allSatisfy { $0.contains("provider_id") == isProven }, "\(code): \(lines)")
        }
    }

    @Test("answers any order of frames as a model says, which Hypothesis drives")
    func machine() async throws {
        let service = try await RunningService()
        try await expectScript(
            "Messaging/herald_machine.py",
            service.clientArguments + [
                "--interface", RunningService.root.appending(path: "Sources/SwiftSDK/Herald/herald.thrift").path,
                "--examples", "\(Soak.count(40, soak: 200))",
            ], seconds: 400)
        #expect(service.stop() == 0)
    }

    @Test("frees the place of a client that is gone at once, like a waiting synchronization over HTTP")
    func departures() async throws {
        let service = try await RunningService()
        try await expectScript("Messaging/departures.py", service.clientArguments)
        #expect(service.stop() == 0)
    }

    @Test("ends with the service: a call that runs is answered, and idle connections are closed")
    func stop() async throws {
        let service = try await RunningService(policies: [
            "requests.yaml": "idle_timeout: 2s\nanswer_timeout: 2s\n", "streams.yaml": "required_level: none\n",
        ])
        try await expectScript(
            "Messaging/herald_stop.py", service.clientArguments + ["--pid", "\(service.processIdentifier)"])
        #expect(service.stop() == 0)
    }
}
