import Fixtures
import Foundation
import Testing

/// What happens in operation: the store goes away, policies change, the service is stopped, clients are slow.
@Suite("The running service in trouble", .serialized)
struct FaultTests {
    @Test("answers 503 while its store is away, changes nothing, and recovers by itself")
    func outage() async throws {
        let service = try await RunningService()
        try await expectScript(
            "Process/outage.py", service.clientArguments + ["--store", service.path("store.db").path])
        #expect(service.stop() == 0)
    }

    @Test("takes reloaded policies, keeps the old ones where a file is wrong, and drops a disabled provider at once")
    func reload() async throws {
        let service = try await RunningService()
        try await expectScript(
            "Process/reload.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                "--pid", "\(service.processIdentifier)",
            ])
    }

    @Test("shows a reloaded server certificate to new connections of both listeners, and says which it is")
    func serverCertificate() async throws {
        let service = try await RunningService()
        try await expectScript(
            "Certificates/server_certificate.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                "--pid", "\(service.processIdentifier)",
            ])
        #expect(service.stop() == 0)
    }

    @Test("stops under load without leaving a request that was sent unanswered")
    func stopUnderLoad() async throws {
        let service = try await RunningService()
        try await stopping(service, "load")
        #expect(service.ended(within: 120) == 0)
    }

    @Test("stops after the last stream of an HTTP/2 connection is answered")
    func stopDuringStream() async throws {
        let service = try await RunningService()
        try await stopping(service, "http2")
        #expect(service.ended(within: 120) == 0)
    }

    @Test("stops at its time limit where a client holds a request for ever")
    func stopAtLimit() async throws {
        let service = try await RunningService(
            policies: ["requests.yaml": "shutdown_timeout: 2s\nrequest_timeout: 2m\n"])
        try await stopping(service, "limit")
        #expect(service.ended(within: 120) == 0)
        #expect(try String(contentsOf: service.path("log"), encoding: .utf8).contains("the time limit ends"))
    }

    @Test("stops at once at a second signal")
    func stopTwice() async throws {
        let service = try await RunningService(
            policies: ["requests.yaml": "shutdown_timeout: 2m\nrequest_timeout: 2m\n"])
        try await stopping(service, "twice")
        #expect(service.ended(within: 120) == 0)
        #expect(try String(contentsOf: service.path("log"), encoding: .utf8).contains("a second signal ends"))
    }

    @Test("ends slow and half-open connections by their deadlines, and serves those behind a flood of them")
    func slow() async throws {
        let service = try await RunningService(policies: [
            "requests.yaml": """
            handshake_timeout: 2s
            request_timeout: 2s
            idle_timeout: 6s
            maximum_connections: 32

            """
        ])
        try await expectScript("Listeners/slow.py", service.clientArguments)
    }

    private func stopping(_ service: RunningService, _ mode: String) async throws {
        try await expectScript(
            "Process/stopping.py",
            service.clientArguments + ["--mode", mode, "--pid", "\(service.processIdentifier)"])
    }
}
