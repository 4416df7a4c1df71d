import Fixtures
import Foundation
import Testing

/// A collector of spans that the test is itself.
@Suite("A collector of spans", .serialized)
struct CollectorTests {
    @Test("gets a span of each request, with the waits for the store and the calls of others inside")
    func spans() async throws {
        let found = try await Command.run(
            "python3",
            ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"])
        let place = "http://127.0.0.1:\(found.output.trimmingCharacters(in: .whitespacesAndNewlines))"
        let service = try await RunningService(arguments: ["--otlp-endpoint", place]) { directory in
            let secret = directory.appending(path: "captcha.secret")
            try "correct horse\n".write(to: secret, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
            try "gate: captcha\ncaptcha_url: \(place)/siteverify\ncaptcha_secret_file: \(secret.path)\n".write(
                to: directory.appending(path: "Policies/certification.yaml"), atomically: true, encoding: .utf8)
        }
        let port = String(place.split(separator: ":")[2])
        try await expectScript("traces.py", service.clientArguments + ["--port", port])
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e0001\""))
        #expect(!log.contains("zzzz") && !log.contains("\"level\":\"error\""))
    }

    @Test(
        "is refused at the start where spans would cross a network in the clear",
        arguments: ["http://collector.example:4318", "ftp://127.0.0.1", "https://collector.example/?token=x", ""])
    func refused(place: String) async throws {
        let scratch = try ScratchDirectory()
        let result = try await Command.run(
            try RunningService.product("countersign"),
            ["serve", "--keys", scratch.file("Keys"), "--otlp-endpoint", place])
        #expect(result.status == 2 && result.errors.contains("--otlp-endpoint"), "\(result.errors)")
    }
}
