import Fixtures
import Foundation
import Testing

/// The built binary on PostgreSQL, alone and with another node beside it.
@Suite("Nodes on PostgreSQL", .serialized)
struct NodesTests {
    private func python(_ script: String, _ arguments: [String]) async throws {
        let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
        let path = RunningService.root.appending(path: "Tests/Interop/\(script)").path
        let result = try await Command.run(interpreter, [path] + arguments, seconds: 240)
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    }

    private func withService(_ body: (RunningService) async throws -> Void) async throws {
        let store = try PostgreSQLCluster.shared.address(of: "service-\(UUID().uuidString)")
        let service = try await RunningService(store: store)
        try await body(service)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("internal_error"))
    }

    @Test("One node keeps the whole contract, with the same clients as on a file")
    func contract() async throws {
        try await withService { service in
            try await python("flow.py", service.clientArguments)
        }
    }

    @Test("What one of two nodes was told holds on the other within a second, and a nonce is spent on both")
    func together() async throws {
        try await withService { service in
            let other = try RunningService(besides: service)
            try await python(
                "nodes.py",
                service.clientArguments + ["--other-public", other.publicURL, "--other-client", other.clientURL])
            #expect(other.stop() == 0)
        }
    }
}
