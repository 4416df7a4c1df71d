import Fixtures
import Foundation
import Testing

/// Bans by the command line, another process, against the running service.
@Suite("Bans against the running service", .serialized)
struct BanTests {
    private func script(_ mode: String, _ service: RunningService, _ more: [String] = []) async throws {
        let output = try await expectScript(
            "ban.py",
            service.clientArguments + [
                "--mode", mode, "--countersign", try RunningService.product("countersign"), "--directory",
                service.directory.path,
            ] + more, seconds: 240)
        FileHandle.standardError.write(Data(output.utf8))
    }

    @Test("close the user's connections over HTTP/1.1 and HTTP/2, and hold at sign-in, at the number and in the end")
    func user() async throws {
        let service = try await RunningService()
        try await script("user", service)
        // Neither note nor token is told to anybody but those it is for.
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("seen by many") && !log.contains("export-token") && !log.contains("internal_error"))
    }

    @Test("refuse a banned device on a resumed TLS session, in TLS 1.2 and 1.3", arguments: ["-tls1_2", "-tls1_3"])
    func resumption(version: String) async throws {
        let service = try await RunningService()
        try await script("resumption", service, ["--version=\(version)"])
    }

    @Test("are there whole or not at all when the command is killed at a hundred random moments")
    func crash() async throws {
        let service = try await RunningService()
        try await script("crash", service)
    }

    @Test("close a hundred connections and refuse five hundred sessions within a second, as the contract promises")
    func effect() async throws {
        let service = try await RunningService()
        try await script("measure", service)
    }
}
