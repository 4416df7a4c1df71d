import Fixtures
import Foundation
import Testing

@Suite("Shared Signals")
struct SharedSignalsTests {
    @Test("are sent and taken as the specifications say, by a receiver and a transmitter that know nothing else")
    func interoperability() async throws {
        let service = try await RunningService(arguments: ["--loopback-urls"])
        let (key, pem) = (service.path("other.key").path, service.path("other.pem").path)
        _ = try await Command.run(
            "openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key])
        _ = try await Command.run("openssl", ["pkey", "-in", key, "-pubout", "-out", pem])
        let added = try await service.countersign(["provider", "add", "--name", "Other", "--key", pem, "--json"])
        try added.output.write(to: service.path("other.json"), atomically: true, encoding: .utf8)
        try await expectScript(
            "SharedSignals/shared_signals.py",
            service.clientArguments + [
                "--texts", service.path("texts.jsonl").path, "--countersign",
                try RunningService.product("countersign"), "--directory", service.directory.path, "--other",
                service.path("other.json").path, "--other-key", key,
            ], seconds: 400)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("internal_error") && !log.contains("of-the-receiver"))
    }

    @Test("go to an address that an operator approved by the command line")
    func approval() async throws {
        let service = try await RunningService(arguments: ["--loopback-urls"])
        let none = try await service.countersign(["provider", "stream", "list", "test", "--json"])
        #expect(none.status == 0 && none.output.trimmingCharacters(in: .whitespacesAndNewlines) == "[]")
        let unknown = try await service.countersign([
            "provider", "stream", "approve", UUID().uuidString, "--url", "https://receiver.example/",
        ])
        #expect(unknown.status == 1 && unknown.errors.contains("There is no stream"))
    }
}
