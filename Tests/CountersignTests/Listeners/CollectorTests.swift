import AsyncHTTPClient
import Encoding
import Fixtures
import Foundation
import Testing
import Traces

@testable import countersign

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
        try await expectScript("Process/traces.py", service.clientArguments + ["--port", port])
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e0001\""))
        #expect(!log.contains("zzzz") && !log.contains("\"level\":\"error\""))
    }

    /// Answers by a body that never ends, and writes a line for each request.
    private static let endless = """
        import socket, sys
        listener, held = socket.create_server(("127.0.0.1", 0)), []
        print(listener.getsockname()[1], flush=True)
        for _ in range(2):
            held.append(listener.accept()[0])
            held[-1].recv(1)
            held[-1].sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\nx")
            print("asked", flush=True)
        sys.stdin.read()
        """

    @Test("is not waited for when its answer never ends: the next spans leave")
    func endless() async throws {
        let scratch = try ScratchDirectory()
        let python = URL(filePath: try Command.python("python"))
        let (output, errors) = (try scratch.write("", "out"), try scratch.write("", "err"))
        let process = try Command.starting {
            let process = Process()
            process.executableURL = python
            process.arguments = ["-c", Self.endless]
            process.standardInput = Pipe()
            process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
            // Whoever reads this process's own would wait for it if the test fails.
            process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
            try process.run()
            return process
        }
        defer { kill(process.processIdentifier, SIGKILL) }
        /// What it has written, once it is so many lines, or after a second.
        func lines(_ count: Int) async throws -> [Substring] {
            var found: [Substring] = []
            for _ in 0..<12000 where found.count < count {
                try await Task.sleep(for: .milliseconds(10))
                found = try scratch.text("out").split(separator: "\n")
            }
            return found
        }
        var first: [Substring] = []
        for _ in 0..<20 where first.isEmpty { first = try await lines(1) }
        let port = try #require(first.first)
        let collector = try #require(SpanCollector(ServiceURL("http://127.0.0.1:\(port)"), timeout: 1))
        let loop = Task { await collector.loop(instance: "i", http: HTTPClient.shared)() }
        for count in 2...3 {
            // A batch is sent once, and lost if a busy machine takes longer than the time limit to connect.
            var batches: [Substring] = []
            for _ in 0..<30 where batches.count < count {
                await withTrace("a", by: collector.tracer) {}
                batches = try await lines(count)
            }
            #expect(batches.count >= count)
        }
        loop.cancel()
        await loop.value
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
