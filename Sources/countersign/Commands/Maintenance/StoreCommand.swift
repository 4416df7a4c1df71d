import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign store …`: backup, migration and maintenance of the store.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Backs the store up, restores, examines, migrates and moves it.",
        subcommands: [
            Backup.self, StoreRestoreCommand.self, Check.self, Migrate.self, StoreCopyCommand.self,
            StoreReopenCommand.self,
        ])

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copies the store into a new file (mode 0600), also while the service runs.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The file; it must not exist yet.") var file: String

        func run() async throws {
            let settings = try Settings.resolve(shared: shared)
            let present = try StoreCommand.upkeep(settings)
            guard !FileManager.default.fileExists(atPath: file) else {
                throw CommandFailure("\(file) is there already; a backup never replaces a file.")
            }
            let progress = Progress("copying pages")
            do {
                try present.backup(to: file) { progress.report($0, of: $1) }
            } catch StoreError.unavailable(let reason) {
                throw CommandFailure("\(file) cannot be made: \(reason).")
            }
            progress.end()
            await noteBackup(settings)
            let bytes = try SQLiteMaintenance(path: file).size()
            if shared.json {
                Output.json(.object(["backup": .string(file), "bytes": .integer(bytes)]))
            } else {
                Output.table([["\(file) holds the store as it was at this moment."]])
            }
        }

        /// Lets `doctor` know. A store with another build's schema is left as it is: the backup is whole without it.
        private func noteBackup(_ settings: Settings) async {
            guard let store = try? settings.store.openPresent() else { return }
            if (try? await store.requirePresent(at: settings.store, in: settings.cell)) != nil {
                _ = try? await store.write { try StoreSettingRepository($0).noteBackup() }
            }
            try? await store.close()
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Examines the file, the schema's version and the audit log; exit code 1 if one has a defect."
        )
        @OptionGroup var shared: SharedOptions

        func run() async throws {
            let settings = try Settings.resolve(shared: shared)
            let keys = try KeyFiles.auditKeys(in: settings.keys)
            let present = try StoreCommand.upkeep(settings)
            let file = try Progress("examining the file").during { try present.inspect() }
            let store = try settings.store.open(clock: { Date() })
            try await store.requireUsable()
            let version = try await store.currentMigration()
            let expected = Schema.migrations.last?.identifier ?? 0
            let history = await StoreCommand.historyDefect(of: store)
            if history == nil { try await store.require(settings.cell, at: settings.store) }
            var audit: VerifyAudit.Report?
            if history == nil {
                let progress = Progress("verifying entries")
                audit = try await VerifyAudit(store: store, keys: keys)() { progress.report($0, of: $1) }
                progress.end()
            }
            try await store.close()
            let defects = file + [history].compactMap(\.self) + [audit?.defect?.description].compactMap(\.self)
            if shared.json {
                Output.json(
                    .object([
                        "valid": .bool(defects.isEmpty), "schema_version": .integer(Int64(version)),
                        "expected_schema_version": .integer(Int64(expected)),
                        "audit_entries": audit.map { .integer($0.entries) } ?? .null,
                        "defects": .array(defects.map { .string($0) }),
                    ]))
            } else {
                Output.table([
                    ["file", file.isEmpty ? "sound" : "damaged"],
                    ["schema version", "\(version) of \(expected)"],
                    [
                        "audit log",
                        audit.map { $0.defect == nil ? "\($0.entries) valid entries" : "not valid" } ?? "-",
                    ],
                ])
            }
            guard defects.isEmpty else { throw CommandFailure(defects.joined(separator: "; ") + ".") }
        }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Brings the schema to this build's version, as every start of the service does.",
            discussion: "Creates an empty store if there is none. Other commands refuse a store with an older schema.")
        @OptionGroup var shared: SharedOptions
        @Flag(help: "Make an empty store one of development mode, for good.") var development = false

        func run() async throws {
            let settings = try Settings.resolve(shared: shared)
            let store = try settings.store.open(clock: { Date() })
            let before = try await store.currentMigration()
            try await store.migrate(Schema.migrations)
            try await store.claim(settings.cell, at: settings.store)
            if development { try await store.requireMode(isDevelopment: true, at: settings.store) }
            let after = try await store.currentMigration()
            try await store.close()
            if shared.json {
                Output.json(.object(["from": .integer(Int64(before)), "to": .integer(Int64(after))]))
            } else {
                Output.table([
                    [before == after ? "The schema is at \(after)." : "The schema went from \(before) to \(after)."]
                ])
            }
        }
    }

    /// Maintenance of the store's file.
    ///
    /// - Throws: ``CommandFailure`` for an engine with its own tools, `StoreError.unavailable` without a file.
    static func upkeep(_ settings: Settings) throws -> SQLiteMaintenance {
        guard let file = settings.store.file else {
            throw CommandFailure("This store is not a file: use its engine's own tools, such as pg_dump.")
        }
        guard FileManager.default.fileExists(atPath: file) else { throw settings.store.missing }
        return try SQLiteMaintenance(path: file)
    }

    /// Why this build cannot use the store; `nil` if it can.
    private static func historyDefect(of store: any Database) async -> String? {
        do {
            let pending = try await store.pendingMigrations(of: Schema.migrations)
            return pending.isEmpty
                ? nil : "\(pending.count) migrations are to be applied: run `countersign store migrate`"
        } catch {
            return ErrorWords.of(error)
        }
    }
}
