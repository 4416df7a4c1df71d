import Fixtures
import Foundation
import Testing

/// The built binary against clients that were not written by its authors' language.
@Suite("The running service", .serialized)
struct ServiceTests {
    @Test("keeps the whole contract with a client and a provider in Python, and stops gracefully")
    func interop() async throws {
        let service = try await RunningService()
        try await expectScript("Sessions/flow.py", service.clientArguments, seconds: 400)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("session-token"))
        #expect(!log.contains("internal_error"))
    }

    @Test("refuses a revoked certificate on a resumed TLS session, in TLS 1.2 and 1.3")
    func resumption() async throws {
        let service = try await RunningService()
        for version in ["-tls1_2", "-tls1_3"] {
            try await expectScript(
                "Certificates/resumption.py",
                service.clientArguments + [
                    "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                    "--version", version,
                ])
        }
    }

    @Test("loses no acknowledged session and revives no spent nonce when it is killed under load again and again")
    func kill() async throws {
        let service = try await RunningService()
        let record = service.path("acknowledged.jsonl").path
        let identity = service.path("device").path
        for round in 0..<Soak.count(4, soak: 20) {
            let arguments =
                service.clientArguments + ["--record", record, "--identity", identity, "--seconds", "20"]
            async let load = expectScript("Migration/load.py", arguments)
            // Long enough for the first round to certify, short enough to die in the middle of the others.
            try await Task.sleep(for: .milliseconds(round == 0 ? 4000 : 1500 + round * 37))
            service.kill()
            _ = try await load
            try service.start()
        }
        let found = try await expectScript(
            "Migration/load.py", service.clientArguments + ["--record", record, "--identity", identity, "--check"],
            seconds: 400)
        #expect(found.contains("sessions"))
    }

    @Test("refuses to start with a key that others may read, and says the command that mends it")
    func openKey() async throws {
        let service = try await RunningService()
        #expect(service.stop() == 0)
        let key = service.path("Keys/ca.key").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let error = #expect(throws: RunningService.NotReady.self) { try service.start() }
        #expect(error?.description.contains("chmod 600 ") == true)
    }

    @Test("refuses to start with a policy value that it does not know, and names file, line and key")
    func unknownPolicy() async throws {
        let service = try await RunningService()
        #expect(service.stop() == 0)
        try "lifetime: 600\nlifetmie: 5\n".write(
            to: service.path("Policies/nonces.yaml"), atomically: true, encoding: .utf8)
        let error = #expect(throws: RunningService.NotReady.self) { try service.start() }
        #expect(error?.description.contains("nonces.yaml:2") == true)
        #expect(error?.description.contains("lifetmie") == true)
    }

    @Test("survives hostile bytes on every listener and stays ready")
    func hostile() async throws {
        let service = try await RunningService()
        try await expectScript("Listeners/hostile.py", service.clientArguments, seconds: 400)
    }

    @Test("refuses bodies over the limit on every path, told or in chunks, so that the refusal arrives")
    func largeBodies() async throws {
        let service = try await RunningService()
        try await expectScript("HTTP/bodies.py", service.clientArguments, seconds: 400)
        #expect(service.stop() == 0)
    }

    @Test("describes itself truly: schemathesis finds no 5xx and no undocumented status")
    func description() async throws {
        let service = try await RunningService()
        let bin = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_VENV"])
        let result = try await Command.run(
            "\(bin)/schemathesis",
            [
                "run", "\(service.publicURL)/openapi.json", "--url", service.publicURL, "--tls-verify", "false",
                "--checks", "not_a_server_error,status_code_conformance", "--max-examples", "12", "--phases",
                "examples,coverage,fuzzing", "--seed", "8446", "--exclude-path", "/provider/events",
                "--include-path-regex",
                "^/(certificates|certificates/authority|certificates/revocations|provider.*|introspect|revoke|openapi.json|.well-known.*|)$",
                // 5 s alone, 24 s where eight builds wait for two processors: a bound against hanging.
            ], seconds: 400)
        #expect(result.status == 0, "\(result.output.suffix(4000))\n\(result.errors)")
    }
}
