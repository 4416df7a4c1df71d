import Fixtures
import Foundation
import Testing

/// Bans by the command line, another process, against the running service.
@Suite("Bans against the running service", .serialized)
struct BanTests {
    static func script(_ mode: String, _ service: RunningService, _ more: [String] = []) async throws {
        let output = try await expectScript(
            "Bans/ban.py",
            service.clientArguments + [
                "--mode", mode, "--countersign", try RunningService.product("countersign"), "--directory",
                service.directory.path,
            ] + more, seconds: 420)
        FileHandle.standardError.write(Data(output.utf8))
    }

    @Test("close the user's connections over HTTP/1.1 and HTTP/2, and hold at sign-in, at the number and in the end")
    func user() async throws {
        let service = try await RunningService()
        try await Self.script("user", service)
        // Neither note nor token is told to anybody but those it is for.
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("seen by many") && !log.contains("export-token") && !log.contains("internal_error"))
    }

    @Test("refuse a banned device on a resumed TLS session, in TLS 1.2 and 1.3")
    func resumption() async throws {
        let service = try await RunningService()
        for version in ["-tls1_2", "-tls1_3"] {
            try await Self.script("resumption", service, ["--version=\(version)"])
        }
    }

    @Test("are there whole or not at all when the command is killed at random moments")
    func crash() async throws {
        let service = try await RunningService()
        try await Self.script("crash", service, ["--rounds", "\(Soak.count(20, soak: 100))"])
    }

    @Test("close a hundred connections and refuse five hundred sessions within a second, as the contract promises")
    func effect() async throws {
        let service = try await RunningService()
        try await Self.script("measure", service)
    }

    @Test("reach the document of a user whom the card's issuer vouches for, and of nobody else")
    func issuerChecked() async throws {
        let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
        let found = try await Command.run(
            interpreter,
            ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"])
        let port = found.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let secret = "whsec_" + Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let service = try await RunningService(
            policies: ["cards.yaml": "issuer_check_url: http://127.0.0.1:\(port)/check\n"]
        ) { directory in
            let keys = directory.appending(path: "Keys")
            try FileManager.default.createDirectory(
                at: keys, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let file = keys.appending(path: "issuer-check.secret").path
            _ = FileManager.default.createFile(
                atPath: file, contents: Data((secret + "\n").utf8), attributes: [.posixPermissions: 0o600])
        }
        let file = service.path("Keys/issuer-check.secret").path
        try await expectScript(
            "Providers/issuer.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                "--port", port, "--secret", file,
            ], seconds: 400)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains(secret) && !log.contains("internal_error") && !log.contains("SAMPLE"))
    }
}

/// The same where there is most to close; by itself, since it is a matter of milliseconds on all processors.
@Suite("A ban of a user on a thousand devices")
struct CrowdTests {
    @Test("closes a thousand connections and refuses five thousand sessions, nearly all and then all within a second")
    func effect() async throws {
        let service = try await RunningService()
        try await BanTests.script("measure", service, ["--connections", "1000", "--sessions", "5000"])
    }
}
