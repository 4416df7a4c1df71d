import ArgumentParser
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import countersign

/// Which commands make a store, or bring one up to date, and which leave that to the operator.
@Suite("A store that is missing or behind", .serialized)
struct PresentStoreTests {
    private static let id = "00000000-0000-4000-8000-000000000000"

    /// Every command that works with a store, but those that make one.
    static let commands: [[String]] = [
        ["provider", "list"], ["provider", "show", "test"], ["provider", "app", "list", "test"],
        ["user", "find", "--external-id", "alice"], ["device", "show", id], ["provider", "key", "list", "test"],
        ["provider", "disable", "test"],
        ["provider", "enable", "test"], ["provider", "set", "test", "--token-alg", "ES256"],
        ["provider", "resource", "list", "test"], ["provider", "resource", "add", "test", "https://api.example/"],
        ["provider", "client", "list", "test"], ["provider", "client", "add", "test", "--audience", "app"],
        ["provider", "client", "remove", "test", "--audience", "app"],
        ["provider", "resource", "remove", "https://api.example/"], ["provider", "origin", "list", "test"],
        ["provider", "origin", "add", "test", "https://app.example"],
        ["provider", "origin", "remove", "test", "https://app.example"], ["provider", "stream", "list", "test"],
        ["provider", "app", "attest", "list", id],
        ["provider", "app", "attest", "add", id, "--apple", "ABCDE12345.com.example.app"],
        ["provider", "app", "attest", "remove", id, "--apple", "ABCDE12345.com.example.app"],
        ["provider", "stream", "show", id], ["provider", "stream", "approve", id],
        ["provider", "key", "retire", id], ["provider", "key", "revoke", id],
        ["provider", "app", "add", "test", "--name", "Another"], ["certificate", "list"],
        ["certificate", "show", "00"],
        ["certificate", "revoke", "00"], ["session", "list"], ["session", "show", id], ["session", "challenge", id],
        ["session", "end", id], ["user", "list"], ["user", "show", id], ["user", "history", id],
        ["user", "export", id, "--reason", "request"], ["user", "end-sessions", id, "--reason", "request"],
        ["user", "apps", id], ["user", "allow-app", id, id, "--reason", "x"],
        ["user", "challenge", id], ["user", "erase", id, "--reason", "request", "--yes"], ["review", "list"],
        ["review", "show", id], ["review", "approve", id, "--reason", "x"], ["review", "reject", id, "--reason", "x"],
        ["outbox", "list"], ["outbox", "retry", id], ["outbox", "drop", id], ["audit", "tail"], ["audit", "verify"],
        ["audit", "export"], ["device", "list"], ["device", "revoke", id], ["status"], ["keys", "rotate"],
        ["ban", "list"], ["ban", "show", id], ["ban", "add", "--user", id, "--reason", "spam"],
        ["ban", "lift", id, "--note", "x"], ["ban", "history", "--device", id], ["texts", "list"],
        ["texts", "lift", "provider test"], ["admin", "list"], ["admin", "acts"], ["admin", "confirm", id],
        ["admin", "remove", "lena", "--reason", "left_company"],
        ["admin", "add", "lena", "--role", "support", "--os-user", "lena"],
    ]

    private func countersign(_ arguments: [String], _ store: String, keys: String) async throws -> Command.Result {
        try await Command.run(
            try RunningService.product("countersign"), arguments + ["--store", store, "--keys", keys])
    }

    /// How a command ends that is refused. It runs in this process, since a process for each takes ten times as long.
    private func refusal(_ arguments: [String], _ store: String, keys: String) async throws -> CommandEnding {
        do {
            let command = try Countersign.parseAsRoot(arguments + ["--store", store, "--keys", keys])
            var asynchronous = try #require(command as? any AsyncParsableCommand)
            try await asynchronous.run()
        } catch {
            return CommandEnding(error, arguments: arguments)
        }
        throw Accepted(command: arguments)
    }

    private struct Accepted: Error {
        let command: [String]
    }

    @Test("is refused by every command but serve, provider add and store migrate, with the command that mends it")
    func refused() async throws {
        let directory = try TemporaryDirectory()
        let keys = directory.path + "/Keys"
        let made = try await countersign(["keys", "init"], "sqlite:x.db", keys: keys)
        #expect(made.status == 0, "\(made.errors)")
        let nowhere = directory.path + "/nowhere.db"
        for command in Self.commands + [["store", "check"], ["store", "backup", directory.path + "/b.db"]] {
            let missing = try await refusal(command, "sqlite:\(nowhere)", keys: keys)
            #expect(missing.status == 1, "\(command): \(missing.stderr)")
            #expect(missing.stderr.contains("There is no store at sqlite:\(nowhere)"), "\(command): \(missing.stderr)")
            #expect(missing.stderr.contains("countersign provider add"), "\(command): \(missing.stderr)")
            #expect(!FileManager.default.fileExists(atPath: nowhere), "\(command) made a store")
        }
        let mended = try await countersign(["store", "migrate"], "sqlite:\(nowhere)", keys: keys)
        #expect(mended.status == 0, "\(mended.errors)")
        #expect(mended.errors.contains(Self.created + nowhere), "\(mended.errors)")
        let listed = try await countersign(["provider", "list"], "sqlite:\(nowhere)", keys: keys)
        #expect(listed.status == 0, "\(listed.errors)")
    }

    private static let created = "A new store was created at sqlite:"

    @Test("is created by provider add, which reports it once")
    func reported() async throws {
        let directory = try TemporaryDirectory()
        let (keys, store) = (directory.path + "/Keys", directory.path + "/another.db")
        #expect(try await countersign(["keys", "init"], "sqlite:x.db", keys: keys).status == 0)
        for (name, isNew) in [("first", true), ("second", false)] {
            let (key, pem) = (directory.path + "/\(name).key", directory.path + "/\(name).pem")
            _ = try await Command.run(
                "openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key])
            _ = try await Command.run("openssl", ["pkey", "-in", key, "-pubout", "-out", pem])
            let added = try await countersign(
                ["provider", "add", "--name", name, "--key", pem], "sqlite:\(store)", keys: keys)
            #expect(added.status == 0, "\(added.errors)")
            #expect(added.errors.contains(Self.created + store) == isNew, "\(added.errors)")
        }
    }

    private static let next = Migration(
        identifier: 1000, name: "next", statements: ["CREATE TABLE next (id TEXT NOT NULL PRIMARY KEY)"])

    @Test("is left as it is by a build with a later schema, which names the command to run")
    func behind() async throws {
        let (migrations, url) = (Schema.migrations + [Self.next], StoreURL.sqlite(path: "old.db"))
        try await withStore(.sqlite, migrations: Schema.migrations) { store in
            let failure = await #expect(throws: CommandFailure.self) {
                try await store.requireCurrentSchema(at: url, migrations: migrations)
            }
            #expect(failure?.sentence.contains("countersign store migrate") == true)
            #expect(try await store.currentMigration() == Schema.migrations.last?.identifier)
            try await store.migrate(migrations)
            try await store.requireCurrentSchema(at: url, migrations: migrations)
        }
    }

    @Test("is tried with every command that this program has")
    func complete() throws {
        // Those that make a store or keys, need none, look into files first, or are tried elsewhere: move and restore.
        let others: Set<String> = [
            "serve", "tour", "inbox", "sample card", "doctor", "keys init", "policy check", "provider add",
            "provider key add", "user archive", "wallet verify", "sample wallet issuer", "sample wallet answer",
            "admin renew", "issuer list", "issuer add", "issuer remove", "issuer fetch",
            "store migrate", "store backup", "store check", "store copy", "store reopen", "store restore",
        ]
        let tried = Self.commands.map { $0.joined(separator: " ") + " " }
        for command in try HelpTests.described() where command.subcommands.isEmpty {
            let path = command.path.dropFirst("countersign ".count)
            #expect(others.contains(String(path)) || tried.contains { $0.hasPrefix(path + " ") }, "\(path)")
        }
    }

    @Test("is an empty file or database, too, and one of a newer build is told as that")
    func others() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/empty.db"
        let empty = try SQLiteDatabase(path: file, clock: { Date() })
        let url = StoreURL.sqlite(path: file)
        await #expect(throws: url.missing) { try await empty.requirePresent(at: url, in: .first) }
        try await empty.migrate(Schema.migrations + [Self.next])
        await #expect(throws: StoreError.migration(.newer(1000))) {
            try await empty.requirePresent(at: url, in: .first)
        }
        try await empty.close()
        try await withStore(.postgresql, migrations: []) { store in
            await #expect(throws: CommandFailure.self) { try await store.requirePresent(at: url, in: .first) }
        }
    }
}
