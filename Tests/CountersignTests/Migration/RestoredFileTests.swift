import ArgumentParser
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import countersign

/// Files that are not a store of this installation, each with the commands that could take one for the store.
@Suite("A file that is not this store", .serialized)
struct RestoredFileTests {
    private let directory: TemporaryDirectory

    init() async throws {
        directory = try TemporaryDirectory()
        let made = try await Command.run(
            try RunningService.product("countersign"), ["keys", "init", "--keys", directory.path + "/Keys"])
        #expect(made.status == 0, "\(made.errors)")
    }

    private func path(_ name: String) -> String { directory.path + "/" + name }

    /// How a command of this process ends; `nil` if it succeeds.
    private func ending(_ arguments: [String], on store: String = "own.db") async throws -> CommandEnding? {
        let all = arguments + ["--store", "sqlite:" + path(store), "--keys", path("Keys")]
        do {
            var command = try #require(try Countersign.parseAsRoot(all) as? any AsyncParsableCommand)
            try await command.run()
            return nil
        } catch {
            return CommandEnding(error, arguments: all)
        }
    }

    /// The number of a file in its file system, which a replaced file does not keep.
    private func number(of name: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path(name))[.systemFileNumber] as? Int)
    }

    /// A store that keys have written to.
    private func store(_ name: String, _ digest: String?, _ migrations: [Migration] = Schema.migrations) async throws {
        let store = try SQLiteDatabase(path: path(name), clock: { Date() })
        try await store.migrate(migrations)
        if let digest {
            let written = NodeFingerprints(items: [.blindIndexKeys: [1: Digest256.of(digest)]], policies: [:])
            try await store.write { try KeyFingerprintRepository($0).add(written) }
        }
        try await store.close()
    }

    private func foreign(_ name: String, _ statements: String...) async throws {
        let store = try SQLiteDatabase(path: path(name), clock: { Date() })
        try await store.write { transaction in for statement in statements { try transaction.execute(statement) } }
        try await store.close()
    }

    @Test("is no backup, in the dry run and with --yes, and the sentence says why", arguments: [[], ["--yes"]])
    func refused(more: [String]) async throws {
        try await store("own.db", nil)
        try Data().write(to: URL(fileURLWithPath: path("nothing.db")))
        try await foreign("foreign.db", "CREATE TABLE x (a TEXT)")
        try await foreign("rails.db", "CREATE TABLE schema_migrations (version TEXT)", "CREATE TABLE users (a TEXT)")
        try await store("other.db", "another installation")
        let next = Migration(identifier: 1000, name: "next", statements: ["CREATE TABLE next (id TEXT)"])
        try await store("newer.db", nil, Schema.migrations + [next])
        let before = try number(of: "own.db")
        let files = [
            "nothing.db": "has no tables: name a file that", "foreign.db": "has the table x and no history",
            "rails.db": "has the table schema_migrations and no history",
            "other.db": "was written with other keys than those in \(path("Keys")) (blind-index.key)",
            "newer.db": "of a newer build", "missing.db": "cannot be read as a store",
        ]
        for (file, sentence) in files {
            let ending = try await ending(["store", "restore", path(file), "--reason", "drill"] + more)
            #expect(
                ending?.status == 1 && ending?.stderr.contains(sentence) == true, "\(file): \(ending?.stderr ?? "")")
        }
        #expect(try number(of: "own.db") == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy { !$0.contains(".replaced") }
        )
    }

    @Test("is never opened as the store, and gets no table")
    func opened() async throws {
        try await foreign("foreign.db", "CREATE TABLE x (a TEXT)")
        try await store("backup.db", nil)
        let node =
            ["--public", "127.0.0.1:0", "--client", "127.0.0.1:0", "--ops", "127.0.0.1:0"]
            + ["--policies", RunningService.root.appending(path: "Policies").path]
        let served = try await Command.run(
            try RunningService.product("countersign"),
            ["serve", "--store", "sqlite:" + path("foreign.db"), "--keys", path("Keys")] + node)
        #expect(served.status == 1 && served.errors.contains("database of another program"), "\(served.errors)")
        let commands =
            PresentStoreTests.commands + [
                ["store", "migrate"], ["store", "check"], ["store", "backup", path("b.db")],
                ["store", "restore", path("backup.db"), "--yes", "--reason", "drill"],
                ["store", "restore", path("backup.db"), "--yes", "--lost", "--reason", "drill"],
                ["store", "restore", "--in-place", "--lost", "--yes", "--reason", "drill"],
                ["store", "reopen", "--lost", "--yes", "--reason", "drill"],
                ["store", "copy", "sqlite:" + path("foreign.db"), "sqlite:" + path("copy.db")],
            ]
        for command in commands {
            let ending = try await ending(command, on: "foreign.db")
            let stderr = ending?.stderr ?? ""
            #expect(ending?.status == 1 && stderr.contains("database of another program"), "\(command): \(stderr)")
        }
        let left = try SQLiteDatabase(path: path("foreign.db"), clock: { Date() })
        #expect(try await left.tables().map(\.name) == ["x"])
        try await left.close()
    }

    @Test("is told from a store by its tables, on each engine", arguments: StoreKind.shared)
    func origins(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let origin = try await store.read { try $0.origin() }
            #expect(origin == .service)
        }
        try await withStore(kind, migrations: []) { store in
            try await store.write { try $0.execute("CREATE TABLE x (a TEXT)") }
            let origin = try await store.read { try $0.origin() }
            #expect(origin == .foreign(table: "x"))
        }
    }

    @Test("is kept under a free name, also twice in a second")
    func names() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        var found: [String] = []
        for _ in 0..<3 {
            let name = StoreRestoreCommand.keptName(of: path("own.db"), at: now)
            try Data().write(to: URL(fileURLWithPath: name))
            found.append(name)
        }
        #expect(Set(found).count == 3 && found.allSatisfy { $0.hasPrefix(path("own.db.replaced-")) })
    }
}
