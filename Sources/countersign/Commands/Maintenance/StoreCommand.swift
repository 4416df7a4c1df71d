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
        commandName: "store", abstract: "Back up, restore, examine, migrate and move the store.",
        subcommands: [
            Backup.self, StoreRestoreCommand.self, Check.self, Migrate.self, StoreCopyCommand.self,
            StoreReopenCommand.self,
        ])

    struct Backup: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy the store into a new file (mode 0600), also while the service runs.",
            example: "store backup backup-2026-01-31.db")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The new file; it must not exist.") var file: String

        func report(on installation: Installation) async throws -> Report {
            let settings = installation.settings
            try await installation.require(.manage, on: settings.store)
            let present = try StoreCommand.maintenance(settings)
            if case .foreign(let table) = try present.read(now: Date(), { try $0.origin() }) {
                throw settings.store.foreign(table)
            }
            guard !FileManager.default.fileExists(atPath: file) else {
                throw CommandFailure("\(file) exists, and a backup never replaces a file: choose another name.")
            }
            let progress = Progress("copying pages")
            do {
                try present.backup(to: file) { progress.report($0, of: $1) }
            } catch StoreError.unavailable(let reason) {
                throw CommandFailure("\(file) cannot be created: \(reason).")
            }
            progress.end()
            await noteBackup(settings)
            let bytes = try SQLiteMaintenance(path: file).size()
            return Report(
                "\(file) contains the store as it was at this moment.",
                json: [.json("backup", file), .json("bytes", bytes)])
        }

        /// Records the backup for `doctor`. A store with another build's schema is not changed: the backup is complete
        /// without the record.
        private func noteBackup(_ settings: Settings) async {
            guard let store = try? settings.store.openPresent() else { return }
            if (try? await store.requirePresent(at: settings.store, in: settings.cell)) != nil {
                _ = try? await store.write { try StoreSettingRepository($0).noteBackup() }
            }
            try? await store.close()
        }
    }

    struct Check: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Examine the file, the schema's version and the audit log; exit code 1 if one has a defect.",
            example: "store check")
        @OptionGroup var shared: SharedOptions

        func report(on installation: Installation) async throws -> Report {
            let settings = installation.settings
            try await installation.require(.audit, on: settings.store)
            let keys = try KeyFiles.auditKeys(in: settings.keys)
            let present = try StoreCommand.maintenance(settings)
            let file = try Progress("examining the file").during { try present.inspect() }
            let store = try settings.store.open(clock: { Date() })
            try await store.requireOwn(at: settings.store)
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
            let log = audit.map { $0.defect == nil ? "\($0.entries) valid entries" : "not valid" }
            var report = Report([
                .people("file", file.isEmpty ? "sound" : "damaged"), .json("valid", defects.isEmpty),
                Entry("schema_version", ReportCell(version.cell.json, "\(version) of \(expected)")),
                .json("expected_schema_version", expected),
                Entry("audit_entries", "audit log", ReportCell((audit?.entries).cell.json, log)),
                .json("defects", defects),
            ])
            if !defects.isEmpty { report.failure = CommandFailure(defects.joined(separator: "; ") + ".") }
            return report
        }
    }

    struct Migrate: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the schema to this build's version, as every start of the service does.",
            discussion:
                "It creates an empty store if there is none. Other commands refuse a store with an older schema.",
            example: "store migrate")
        @OptionGroup var shared: SharedOptions
        @Flag(help: "Mark an empty store as one of development mode, for good.") var development = false

        func report(on installation: Installation) async throws -> Report {
            let settings = installation.settings
            try await installation.require(.manage, on: settings.store)
            let store = try settings.store.open(clock: { Date() })
            let before = try await store.currentMigration()
            let isNew = try await store.prepare(for: settings.cell, at: settings.store)
            if development { try await store.requireMode(isDevelopment: true, at: settings.store) }
            let after = try await store.currentMigration()
            try await store.close()
            return Report(
                before == after ? "The schema is at \(after)." : "The schema went from \(before) to \(after).",
                json: [.json("from", before), .json("to", after)]
            ).noting(isNew ? "A new store was created at \(settings.store.place)." : nil)
        }
    }

    /// Maintenance of the store's file.
    ///
    /// - Throws: ``CommandFailure`` for an engine with its own tools, `StoreError.unavailable` without a file.
    static func maintenance(_ settings: Settings) throws -> SQLiteMaintenance {
        guard let file = settings.store.file else {
            throw CommandFailure("This store is not a file: use its engine's own tools, such as pg_dump.")
        }
        guard FileManager.default.fileExists(atPath: file) else { throw settings.store.missing }
        return try SQLiteMaintenance(path: file)
    }

    /// The reason that this build cannot use the store; `nil` if it can.
    private static func historyDefect(of store: any Database) async -> String? {
        do {
            let pending = try await store.pendingMigrations(of: Schema.migrations)
            return pending.isEmpty
                ? nil : "the schema lacks \(pending.count.counting("migration")): run `countersign store migrate`"
        } catch {
            return ErrorWords.of(error)
        }
    }
}
