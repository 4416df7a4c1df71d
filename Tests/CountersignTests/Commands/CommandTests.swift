import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

/// The admin commands against the store of a running service, by `Vectors/commands.transcript`.
@Suite("The command line", .serialized)
struct CommandTests {
    /// One command of the transcript and what it says.
    struct Exchange {
        /// The line after `$ `.
        let line: String
        var expected: [String] = []
    }

    static func exchanges(_ name: String = "commands") throws -> [Exchange] {
        let file = RunningService.root.appending(path: "Tests/CountersignTests/Vectors/\(name).transcript")
        var found: [Exchange] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("$ ") {
                found.append(Exchange(line: String(line.dropFirst(2))))
            } else if !found.isEmpty {
                found[found.count - 1].expected.append(String(line))
            }
        }
        return found
    }

    /// Splits at spaces; double quotes hold words together.
    static func words(_ line: String) -> [String] {
        line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }

    static func mask(_ text: String, _ service: RunningService, serial: String) -> [String] {
        text.replacing(service.directory.path, with: "{directory}")
            .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/, with: "<id>")
            .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/, with: "<time>")
            .replacing(serial, with: "<serial>").replacing(/\+1415[0-9]{7}/, with: "<number>")
            .replacing("admin \(NSUserName())", with: "admin <name>")
            .replacing(/[A-Za-z0-9_\-]{43}/, with: "<digest>")
            .replacing(/\b[a-z2-9]{5}(?:-[a-z2-9]{5}){4}\b/, with: "<password>")
            .replacing(/[ ]{2,}/, with: "  ")
            .split(separator: "\n").map(String.init)
    }

    /// Waits until the service has written down that it has the versions that a rotation kept: it does so every five
    /// seconds, and `doctor` compares its own with them.
    private func awaitKeys(_ output: String, _ service: RunningService) async throws {
        let report = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        let kept = try #require(report["kept"] as? [Int])
        let store = try SQLiteDatabase(path: service.path("store.db").path, clock: { Date() })
        var found: [[Int]?] = []
        for _ in 0..<1200 {
            let nodes = try await store.read { try ClusterMemberRepository($0).live() }
            found = nodes.map { $0.fingerprints.items[.wrappingKeys]?.keys.sorted() }
            if found == [kept] { return try await store.close() }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("the service has \(found), not \(kept)")
    }

    /// Two messages that no carrier took, as the service leaves them after their last try.
    private func leaveDeadLetters(_ service: RunningService) async throws -> [OutboxMessageID] {
        let store = try SQLiteDatabase(path: service.path("store.db").path, clock: { Date() })
        let ids = try await store.write { transaction in
            let user = try #require(try UserRepository(transaction).list(limit: 9).first { $0.externalID == "alice" })
            return try (1...2).map { number in
                let written = transaction.now.addingTimeInterval(-3600 * Double(number))
                let id = OutboxMessageID(UUID())
                _ = try OutboxRepository(transaction).insert(
                    OutboxMessage(
                        id: id, kind: .authorization, owner: OutboxOwner(user.providerID),
                        subject: "\(UUID().uuidString.lowercased()) REQUEST",
                        userID: user.id, deduplicationKey: "dead \(number)", payload: [], createdAt: written,
                        expiresAt: written.addingTimeInterval(86_400), dueAt: written))
                try transaction.execute(
                    """
                    UPDATE outbox SET state = 'dead', tries = 5, reason = 'HTTP 503', ended_at = created_at
                    WHERE id = $1
                    """, [.text(id.description)])
                return id
            }
        }
        try await store.close()
        return ids
    }

    @Test("says what the transcript holds, to people and to programs, and ends with the contract's codes")
    func transcript() async throws {
        let service = try await RunningService()
        try await expectScript(
            "Requests/description.py", service.clientArguments + ["--leave", service.path("left").path])
        let left = try StrictJSON.parse(try Data(contentsOf: service.path("left/session.json")))
        let serial = try #require(left["serial"]?.text)
        var variables = [
            "directory": service.directory.path, "serial": serial, "session": left["session_id"]?.text ?? "",
            "card": left["card_id"]?.text ?? "", "other": left["other_card_id"]?.text ?? "",
            // What a terminal would obey: it turns the line around, changes its colour, clears it.
            "hidden": "\u{202E}\u{9B}31m\u{1B}[2J",
        ]
        for (name, id) in zip(["dead", "hopeless"], try await leaveDeadLetters(service)) {
            variables[name] = id.description
        }
        for name in ["second", "third", "fourth"] {
            try P256.Signing.PrivateKey().publicKey.pemRepresentation.write(
                to: service.path("\(name).pem"), atomically: true, encoding: .utf8)
        }
        for (name, text) in [("Wrong/nonces.yaml", "lifetmie: 5\n"), ("Short/sessions.yaml", "idle_lifetime: 1s\n")] {
            let file = service.path(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: false)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        // Older than the short policy's idle time.
        try await Task.sleep(for: .milliseconds(1100))
        let exchanges = try Self.exchanges()
        #expect(exchanges.count > 50)
        for exchange in exchanges {
            let parts = exchange.line.components(separatedBy: " -> ")
            let arguments = Self.words(
                variables.reduce(parts[0]) { $0.replacing("{\($1.key)}", with: $1.value) })
            let result = try await service.countersign(arguments)
            if parts.count == 2 {
                variables[parts[1]] = try StrictJSON.parse(Array(result.output.utf8))[parts[1]]?.text
            }
            if exchange.line == "keys rotate --prune --json" { try await awaitKeys(result.output, service) }
            let errors = Self.mask(result.errors, service, serial: serial).map { "! " + $0 }
            let found =
                Self.mask(result.output, service, serial: serial)
                + (result.status == 2 ? Array(errors.prefix(1)) : errors)
                + ["[\(result.status)]"]
            #expect(found == exchange.expected, "\(exchange.line)")
        }
    }

    @Test("has a line in a transcript for every command")
    func complete() throws {
        let lines = try ["commands", "leaked-key"].flatMap { try Self.exchanges($0) }.map { $0.line + " " }
        for command in try HelpTests.described() where command.subcommands.isEmpty {
            let path = command.path.dropFirst("countersign ".count)
            #expect(lines.contains { $0.hasPrefix(path + " ") }, "\(path)")
        }
    }

    @Test("tells the policies in force with the line that gives each value, as JSON too")
    func policies() async throws {
        let service = try await RunningService(policies: ["nonces.yaml": "# short\nlifetime: 2m\n"])
        let table = try await service.countersign(["policy", "check"])
        #expect(table.status == 0)
        #expect(table.output.hasPrefix("FILE"))
        let rows = table.output.split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        #expect(rows.contains(["nonces.yaml", "lifetime", "2m", "line", "2"]))
        #expect(rows.contains(["nonces.yaml", "kept_after_expiry", "15m", "default"]))
        let json = try await service.countersign(["policy", "check", "--json"])
        let value = try StrictJSON.parse(Array(json.output.utf8))
        #expect(json.status == 0)
        #expect(value["valid"] == .bool(true))
        #expect(value["policy"]?["nonces"]?["lifetime"] == .integer(120))
    }
}
