import Fixtures
import Foundation
import Testing

/// Phone verification through the built binary.
@Suite("Phone verification in the running service", .serialized)
struct PhoneTests {
    private func script(_ what: String, _ service: RunningService) async throws {
        try await expectScript(
            "Phone/phone.py",
            [what] + service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
            ], seconds: 400)
    }

    @Test("Two hundred guesses at once on two processes are five guesses, and one right code of forty succeeds")
    func guesses() async throws {
        let service = try await RunningService()
        try await script("guesses", service)
        // What was texted stands neither in the log nor, in clear, in the store.
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        let store =
            try Data(contentsOf: service.path("store.db")) + (try Data(contentsOf: service.path("store.db-wal")))
        #expect(!log.contains("4155552671"))
        #expect(store.firstRange(of: Data("4155552671".utf8)) == nil)
    }

    @Test("A text that is tried again reaches the operator's webhook under the same id, which is the outbox's")
    func messageIDs() async throws {
        let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
        let free = try await Command.run(
            interpreter,
            ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"])
        let port = free.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let secret = "whsec_" + Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let service = try await RunningService(
            policies: ["delivery.yaml": "senders: [{kind: webhook, url: 'http://127.0.0.1:\(port)/texts'}]\n"]
        ) { directory in
            let keys = directory.appending(path: "Keys")
            try FileManager.default.createDirectory(
                at: keys, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            _ = FileManager.default.createFile(
                atPath: keys.appending(path: "webhook.secret").path, contents: Data((secret + "\n").utf8),
                attributes: [.posixPermissions: 0o600])
        }
        try await expectScript(
            "Phone/message_ids.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                "--port", port, "--secret", service.path("Keys/webhook.secret").path,
            ])
    }

    @Test("A service that is killed amid 1,000 texts loses none and sends fewer than ten twice")
    func crash() async throws {
        let service = try await RunningService()
        try await script("crash", service)
    }
}
