import Database
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
            "There is no store at \(place): look whether --store is right; `countersign provider add`, `serve` and "
                + "`store migrate` make one.")
    }
}

extension Database {
    /// Returns if the store exists and has this build's schema.
    ///
    /// - Throws: ``CommandFailure`` that names the command to run, `StoreError.notUsable` for a store that was moved,
    ///   `StoreError.migration` for one of a newer build.
    func requirePresent(at url: StoreURL) async throws {
        try await requireUsable()
        guard try await currentMigration() > 0 else { throw url.missing }
        try await requireCurrentSchema(at: url)
    }

    /// Returns if the store may be served in a mode. An empty one becomes one of development mode when it is first asked
    /// for, and stays it: in copies and backups, too.
    ///
    /// - Throws: ``CommandFailure``.
    func requireMode(isDevelopment: Bool, at url: StoreURL) async throws {
        guard isDevelopment else {
            guard try await read({ try StoreSettingRepository($0).isDevelopment() }) else { return }
            throw CommandFailure(
                "The store at \(url.place) is one of development mode, where a known code proves a test number: start with "
                    + "--development, or with another store.")
        }
        guard try await write({ try StoreSettingRepository($0).markDevelopment() }) else {
            throw CommandFailure(
                "The store at \(url.place) holds something and is none of development mode: --development takes an empty "
                    + "store, or one that it began.")
        }
    }

    /// Returns if the store has this build's schema.
    ///
    /// - Throws: ``CommandFailure`` that names the command to run, `StoreError.migration` for one of a newer build.
    func requireCurrentSchema(at url: StoreURL, migrations: [Migration] = Schema.migrations) async throws {
        guard try await pendingMigrations(of: migrations).isEmpty else {
            throw CommandFailure(
                "The store at \(url.place) has schema version \(try await currentMigration()), and this build has "
                    + "\(migrations.last?.identifier ?? 0). Run `countersign store migrate` on it: nodes of the previous "
                    + "version continue to work.")
        }
    }
}
