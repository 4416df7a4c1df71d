import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

/// The runbook for a provider's leaked key, against a running service.
@Suite("A provider's leaked key")
struct LeakedKeyTests {
    /// The commands of the runbook, as it stands in the documents.
    private func runbook() throws -> [String] {
        let file = RunningService.root.appending(path: "Sources/countersign/countersign.docc/Runbooks.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "\n## A provider's key leaked\n"))
        let section = text[start.upperBound...].prefix(
            upTo: text[start.upperBound...].range(of: "\n## ")?.lowerBound ?? text.endIndex)
        return section.matches(of: /`countersign ([^`]+)`/).map { match in
            String(match.1).replacing("SLUG", with: "test").replacing("new.pem", with: "{directory}/new.pem")
                .replacing("affected.jsonl", with: "{directory}/affected.jsonl")
                .replacing("KEY-ID", with: "{leaked}")
        }
    }

    @Test("is answered by the runbook: it goes with all that was added and opened by way of it")
    func leaked() async throws {
        let exchanges = try CommandTests.exchanges("leaked-key")
        #expect(try runbook() == exchanges.map(\.line))
        let service = try await RunningService()
        let new = P256.Signing.PrivateKey()
        for (name, text) in [
            ("new.pem", new.publicKey.pemRepresentation), ("new.key", new.pemRepresentation),
        ] {
            try text.write(to: service.path(name), atomically: true, encoding: .utf8)
        }
        let script = service.clientArguments + ["--left", service.path("left.json").path]
        try await expectScript("Providers/leaked_key.py", ["steal"] + script)
        let leaked = try #require(
            try StrictJSON.parse(try Data(contentsOf: service.path("provider.json")))["key_id"]?.text)
        for exchange in exchanges {
            let line = exchange.line.replacing("{leaked}", with: leaked)
                .replacing("{directory}", with: service.directory.path)
            let result = try await service.countersign(CommandTests.words(line))
            let found =
                CommandTests.mask(result.output, service, serial: "no serial")
                + CommandTests.mask(result.errors, service, serial: "no serial").map { "! " + $0 } + [
                    "[\(result.status)]"
                ]
            #expect(found == exchange.expected, "\(exchange.line)")
        }
        let affected = try String(contentsOf: service.path("affected.jsonl"), encoding: .utf8).split(separator: "\n")
        let users = try affected.map { try StrictJSON.parse(Array($0.utf8))["external_id"]?.text ?? "" }
        #expect(users.count == 2 && users.allSatisfy { $0.hasPrefix("user of ") })
        let keys = try StrictJSON.parse(
            Array(try await service.countersign(["provider", "key", "list", "test", "--json"]).output.utf8))
        guard case .array(let list) = keys,
            let id = list.first(where: { $0["state"]?.text == "active" })?["key_id"]?.text
        else {
            Issue.record("no key is active")
            return
        }
        try await expectScript(
            "Providers/leaked_key.py",
            ["mended"] + script + ["--new-key", service.path("new.key").path, "--new-key-id", id])
    }
}
