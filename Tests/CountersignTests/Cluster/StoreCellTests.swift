import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import countersign

@Suite("The cell of a store", .serialized)
struct StoreCellTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func path(_ name: String) -> String { directory.path + "/" + name }

    /// Runs a command in a cell, or in the default one.
    private func countersign(
        _ arguments: [String], on store: String, in cell: Int?
    ) async throws -> Command.Result {
        try await Command.run(
            try RunningService.product("countersign"),
            arguments + ["--store", "sqlite:" + path(store), "--keys", path("Keys")]
                + ["--policies", RunningService.root.appending(path: "Policies").path]
                + (cell.map { ["--cell", "\($0)"] } ?? []))
    }

    private func accepted(_ arguments: [String], on store: String, in cell: Int?) async throws {
        let result = try await countersign(arguments, on: store, in: cell)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
    }

    /// Expects that a command names the cell of the store and what to do.
    private func refused(_ arguments: [String], on store: String, in cell: Int?) async throws {
        let result = try await countersign(arguments, on: store, in: cell)
        #expect(result.status == 1, "\(arguments): \(result.errors)")
        #expect(result.errors.contains("belongs to cell 7, and this command to cell \(cell ?? 0)."), "\(result.errors)")
        #expect(result.errors.contains("--cell 7, COUNTERSIGN_CELL=7, or cell: 7"), "\(result.errors)")
    }

    @Test("is that of the command that created it, and no node and no command of another cell uses it")
    func compared() async throws {
        try P256.Signing.PrivateKey().publicKey.pemRepresentation
            .write(toFile: path("provider.pem"), atomically: true, encoding: .utf8)
        try await accepted(["keys", "init"], on: "own.db", in: nil)
        try await accepted(["store", "migrate"], on: "own.db", in: 7)
        try await accepted(["provider", "list"], on: "own.db", in: 7)
        let node = ["serve", "--public", "127.0.0.1:0", "--client", "127.0.0.1:0", "--ops", "127.0.0.1:0"]
        for command in [
            node, ["store", "migrate"], ["store", "check"], ["provider", "list"],
            ["provider", "add", "--name", "Test", "--key", path("provider.pem")],
            ["store", "copy", "sqlite:" + path("own.db"), "sqlite:" + path("copy.db")],
        ] {
            try await refused(command, on: "own.db", in: 8)
        }
        try await refused(node, on: "own.db", in: nil)
        let unreadable = try await countersign(["provider", "list"], on: "own.db", in: 4096)
        #expect(unreadable.status == 2 && unreadable.errors.contains("a number from 0 to 4095"), "\(unreadable.errors)")
    }

    @Test("is that of its backup and of its copy")
    func kept() async throws {
        try await accepted(["keys", "init"], on: "own.db", in: nil)
        try await accepted(["store", "migrate"], on: "own.db", in: 7)
        try await accepted(["store", "backup", path("backup.db")], on: "own.db", in: 7)
        let restore = ["store", "restore", path("backup.db"), "--lost", "--yes"]
        try await refused(restore, on: "restored.db", in: 8)
        #expect(!FileManager.default.fileExists(atPath: path("restored.db")))
        try await accepted(restore, on: "restored.db", in: 7)
        let places = ["sqlite:" + path("own.db"), "sqlite:" + path("copy.db")]
        try await accepted(["store", "copy"] + places + ["--final", "--yes"], on: "own.db", in: 7)
        for store in ["restored.db", "copy.db"] { try await refused(["provider", "list"], on: store, in: 8) }
        try await refused(["store", "reopen", "--lost", "--yes"], on: "own.db", in: 8)
        try await accepted(["store", "reopen", "--lost", "--yes"], on: "own.db", in: 7)
    }

    @Test("is given once, to a store that has none", arguments: StoreKind.shared)
    func claimed(kind: StoreKind) async throws {
        let (own, other) = (try #require(Cell(4095)), try #require(Cell(1)))
        let url = StoreURL.sqlite(path: path("own.db"))
        try await withStore(kind, migrations: Schema.migrations) { store in
            try await store.requirePresent(at: url, in: other)
            try await store.claim(own, at: url)
            try await store.claim(own, at: url)
            await #expect(throws: CommandFailure.self) { try await store.claim(other, at: url) }
            await #expect(throws: CommandFailure.self) { try await store.requirePresent(at: url, in: other) }
            try await store.requirePresent(at: url, in: own)
        }
    }
}
