import Database
import Domain
import Foundation
import Repositories

extension StoreURL {
    /// Opens an existing store.
    ///
    /// - Throws: ``CommandFailure`` if there is no file, `StoreError.unavailable` if it cannot be opened.
    func openPresent() throws -> any Database {
        if let file, !FileManager.default.fileExists(atPath: file) { throw missing }
        return try open(clock: { Date() })
    }

    /// The failure if there is no store; its sentence names the command that creates one.
    var missing: CommandFailure {
        CommandFailure(
            "There is no store at \(place): check --store, or create one with `countersign provider add`, `serve` or "
                + "`store migrate`.")
    }

    /// The failure if another program's tables are there.
    func foreign(_ table: String) -> CommandFailure {
        CommandFailure(
            "\(place) is a database of another program: it has the table \(table) and no history of this service. "
                + "Nothing was changed. Name the store with --store, or an empty file or database.")
    }
}

extension Database {
    /// Returns if the store exists, has a schema that this build can use, and belongs to a cell.
    ///
    /// - Throws: ``CommandFailure`` that names the command to run, `StoreError.notUsable` for a store that was moved,
    ///   `StoreError.migration` for one that is too new.
    func requirePresent(at url: StoreURL, in cell: Cell) async throws {
        try await requireOwn(at: url)
        try await requireUsable()
        guard try await currentMigration() > 0 else { throw url.missing }
        try await requireCurrentSchema(at: url)
        try await require(cell, at: url)
    }

    /// Returns if the store is empty or has the tables of the service. Every command that opens a store calls this
    /// before it writes.
    ///
    /// - Throws: ``CommandFailure``.
    func requireOwn(at url: StoreURL) async throws {
        guard case .foreign(let table) = try await read({ try $0.origin() }) else { return }
        throw url.foreign(table)
    }

    /// Brings the schema up to date, creating it in an empty store, and claims the store for a cell.
    ///
    /// - Returns: whether the store was empty. A command reports that, because a wrong address creates a store too.
    /// - Throws: ``CommandFailure``, `StoreError`.
    func prepare(for cell: Cell, at url: StoreURL) async throws -> Bool {
        try await requireOwn(at: url)
        let isNew = try await currentMigration() == 0
        try await migrate(Schema.migrations)
        try await claim(cell, at: url)
        return isNew
    }

    /// Gives a new store its cell, which copies and backups keep. Returns if the store belongs to that cell.
    ///
    /// - Throws: ``CommandFailure``.
    func claim(_ cell: Cell, at url: StoreURL) async throws {
        try await write { transaction in
            try StoreSettingRepository(transaction).claim(cell)
            try cell.require(in: transaction, at: url)
        }
    }

    /// Returns if the store belongs to a cell. In another store, new identifiers would name a cell that does not have
    /// their objects.
    ///
    /// - Throws: ``CommandFailure``.
    func require(_ cell: Cell, at url: StoreURL) async throws {
        try await read { try cell.require(in: $0, at: url) }
    }

    /// Returns if the store may be served in a mode. An empty store becomes one of development mode when that is first
    /// requested, and remains so, also in copies and backups.
    ///
    /// - Throws: ``CommandFailure``.
    func requireMode(isDevelopment: Bool, at url: StoreURL) async throws {
        guard isDevelopment else {
            guard try await read({ try StoreSettingRepository($0).isDevelopment() }) else { return }
            throw CommandFailure(
                "The store at \(url.place) was created with --development, and a known code proves its test numbers: "
                    + "add --development, or name another store.")
        }
        guard try await write({ try StoreSettingRepository($0).markDevelopment() }) else {
            throw CommandFailure(
                "The store at \(url.place) is not empty and was not created with --development: name an empty store.")
        }
    }

    /// Returns if the store has this build's schema, or a newer one that this build can use.
    ///
    /// - Throws: ``CommandFailure`` that names the command to run, `StoreError.migration` for one that is too new.
    func requireCurrentSchema(at url: StoreURL, migrations: [Migration] = Schema.migrations) async throws {
        guard try await pendingMigrations(of: migrations).isEmpty else {
            throw CommandFailure(
                "The store at \(url.place) has schema version \(try await currentMigration()), and this build has "
                    + "\(migrations.last?.identifier ?? 0): run `countersign store migrate`. Nodes of the previous "
                    + "version continue to work.")
        }
    }
}

extension Cell {
    /// Returns if a store belongs to this cell, or has no cell yet.
    ///
    /// - Throws: ``CommandFailure``.
    func require(in transaction: any Transaction, at url: StoreURL) throws {
        guard let other = try StoreSettingRepository(transaction).cell(), other != self else { return }
        throw CommandFailure(
            "The store at \(url.place) belongs to cell \(other), and this command to cell \(self). Set the cell to "
                + "\(other) (--cell \(other), COUNTERSIGN_CELL=\(other), or cell: \(other) in countersign.yaml), or name "
                + "the store of cell \(self) (--store).")
    }
}
