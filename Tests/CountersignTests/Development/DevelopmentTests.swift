import Fixtures
import Foundation
import Testing

@Suite("A service in development mode", .serialized)
struct DevelopmentTests {
    @Test("takes test numbers, specimen cards and receivers on this machine, and shows texts and why one is missing")
    func works() async throws {
        let service = try await RunningService(arguments: ["--development"])
        try await expectScript(
            "Process/development.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--texts", service.path("texts.jsonl").path,
                "--directory", service.directory.path,
            ])
        #expect(try !service.logLines("development mode: only for this machine").isEmpty)
    }

    /// The sentence with which a start on a store ended.
    private func refusal(_ service: RunningService, _ store: String, _ arguments: [String] = []) async throws -> String
    {
        let ended = try await service.countersign(
            ["serve", "--store", store, "--public", "127.0.0.1:0", "--client", "127.0.0.1:0", "--ops", "127.0.0.1:0"]
                + arguments)
        #expect(ended.status == 1, "\(store): \(ended.status) \(ended.errors)")
        return ended.errors
    }

    @Test("leaves a store that no other service takes, wherever it is copied; and takes no store of another")
    func marked() async throws {
        let service = try await RunningService(arguments: ["--development"])
        let (backup, restored) = (service.path("backup.db").path, service.path("restored.db").path)
        let copied = "sqlite:\(service.path("copied.db").path)"
        #expect(try await service.countersign(["store", "backup", backup]).status == 0)
        #expect(service.stop() == 0)
        let restoring = try await service.countersign([
            "store", "restore", backup, "--lost", "--yes", "--store", "sqlite:\(restored)",
        ])
        #expect(restoring.status == 0, "\(restoring.errors)")
        let moving = try await service.countersign(["store", "copy", service.store, copied, "--final", "--yes"])
        #expect(moving.status == 0, "\(moving.errors)")
        for store in ["sqlite:\(backup)", "sqlite:\(restored)", copied] {
            let sentence = try await refusal(service, store)
            #expect(sentence.contains("was created with --development"), "\(sentence)")
        }
        // And the other way round.
        let own = "sqlite:\(service.path("own.db").path)"
        let added = try await service.countersign([
            "provider", "add", "--name", "Test", "--key", service.path("provider.pem").path, "--store", own,
        ])
        #expect(added.status == 0, "\(added.errors)")
        let sentence = try await refusal(service, own, ["--development"])
        #expect(sentence.contains("was not created with --development"), "\(sentence)")
        #expect(try await service.countersign(["store", "migrate", "--development", "--store", own]).status == 1)
    }

    @Test("is refused by proxies that bring callers from elsewhere, at the start and at a reload")
    func proxies() async throws {
        let service = try await RunningService(arguments: ["--development"])
        let policy = service.path("Policies/requests.yaml")
        let text = try String(contentsOf: policy, encoding: .utf8)
        let proxied = text.split(separator: "\n").filter { !$0.hasPrefix("proxied_networks") }.joined(separator: "\n")
        try (proxied + "\nproxied_networks: [127.0.0.0/8]\n").write(to: policy, atomically: true, encoding: .utf8)
        kill(service.processIdentifier, SIGHUP)
        var refused: [String] = []
        for _ in 0..<2400 where refused.isEmpty {
            try await Task.sleep(for: .milliseconds(50))
            refused = try service.logLines("the policies were not reloaded")
        }
        #expect(refused.first?.contains("proxied_networks") == true, "\(refused)")
        #expect(service.stop() == 0)
        let sentence = try await refusal(service, service.store, ["--development"])
        #expect(sentence.contains("proxied_networks"), "\(sentence)")
    }
}
