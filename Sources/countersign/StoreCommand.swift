import ArgumentParser
import Database
import Foundation
import Identity
import Operations
import Records

/// `countersign store …`: the store as a whole.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Backs the store up, restores, examines and migrates it.",
        subcommands: [Backup.self, StoreRestoreCommand.self, Check.self, Migrate.self])

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copies the store into a new file (mode 0600), also while the service runs.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The file, which must not be there yet.") var file: String

        func run() async throws {
            let settings = try await Settings.resolve(shared: shared)
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
            let bytes = try SQLiteUpkeep(path: file).size()
            if shared.json {
                Output.json(.members(["backup": .string(file), "bytes": .integer(bytes)]))
            } else {
                Output.table([["\(file) holds the store as it was at this moment."]])
            }
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Examines the file, the schema's version and the audit log: exit code 1 where one is not as it should be."
        )
        @OptionGroup var shared: SharedOptions

        func run() async throws {
            let settings = try await Settings.resolve(shared: shared)
            let keys = try KeyFiles.auditKeys(in: settings.keys)
            let present = try StoreCommand.upkeep(settings)
            let file = try Progress("examining the file").during { try present.inspect() }
            let store = try settings.store.open(clock: { Date() })
            let version = try await store.currentMigration()
            let expected = Schema.migrations.last?.identifier ?? 0
            let history = await StoreCommand.historyDefect(of: store)
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
                    .members([
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
                        audit.map { $0.defect == nil ? "\($0.entries) entries hold" : "does not hold" } ?? "-",
                    ],
                ])
            }
            guard defects.isEmpty else { throw CommandFailure(defects.joined(separator: "; ") + ".") }
        }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Brings the schema to this build's version, as every start and admin command does.")
        @OptionGroup var shared: SharedOptions

        func run() async throws {
            let settings = try await Settings.resolve(shared: shared)
            let store = try settings.store.open(clock: { Date() })
            let before = try await store.currentMigration()
            try await store.migrate(Schema.migrations)
            let after = try await store.currentMigration()
            try await store.close()
            if shared.json {
                Output.json(.members(["from": .integer(Int64(before)), "to": .integer(Int64(after))]))
            } else {
                Output.table([
                    [before == after ? "The schema is at \(after)." : "The schema went from \(before) to \(after)."]
                ])
            }
        }
    }

    /// The store's file.
    ///
    /// - Throws: ``CommandFailure`` for an engine that brings its own tools, `StoreError.unavailable` without a file.
    static func upkeep(_ settings: Settings) throws -> SQLiteUpkeep {
        guard let file = settings.store.file else {
            throw CommandFailure("This store is not a file: use its engine's own tools, such as pg_dump.")
        }
        return try SQLiteUpkeep(path: file)
    }

    /// What keeps this build from working with a store as it is.
    private static func historyDefect(of store: any Database) async -> String? {
        do {
            let pending = try await store.pendingMigrations(of: Schema.migrations)
            return pending.isEmpty
                ? nil : "\(pending.count) migrations are to be applied: run `countersign store migrate`"
        } catch {
            return "\(error)"
        }
    }
}

/// `countersign store restore`.
struct StoreRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Puts a backup in the store's place; the service must be stopped, the present store is kept.",
        discussion: """
            All sessions end, nonces on their way are refused, unsent messages are dropped. What was erased, revoked or \
            disabled since the backup stays so, by what the replaced store says.
            """)
    @OptionGroup var shared: SharedOptions
    @Argument(help: "The backup.") var file: String
    @Flag(help: "Do it; without this, only examine the backup and say what would happen.") var yes = false
    @Flag(help: "The present store is lost or cannot be read: replay nothing from it.") var lost = false
    @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?

    func run() async throws {
        let settings = try await Settings.resolve(shared: shared)
        let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
        let keys = try KeyFiles.personal(in: settings.keys)
        guard let path = settings.store.file else {
            throw CommandFailure("This store is not a file: use its engine's own tools, such as pg_restore.")
        }
        let backup: SQLiteUpkeep
        do {
            backup = try SQLiteUpkeep(path: file)
            let defects = try Progress("examining the backup").during { try backup.inspect() }
            guard defects.isEmpty else {
                throw CommandFailure("\(file) is damaged: \(defects.joined(separator: "; ")).")
            }
        } catch StoreError.unavailable(let reason) {
            throw CommandFailure("\(file) cannot be read as a store: \(reason).")
        }
        let present = FileManager.default.fileExists(atPath: path) ? try SQLiteUpkeep(path: path, busyTimeout: 1) : nil
        guard yes else {
            throw CommandFailure("\(file) is sound and would take the place of \(path): add --yes.")
        }
        do {
            try present?.requireUnused()
        } catch StoreError.unavailable {
            throw CommandFailure("\(path) is in use: stop the service, and every other command, first.")
        }
        let kept = "\(path).replaced-\(Date().rfc3339.replacing(":", with: "").replacing("-", with: ""))"
        let draft = "\(path).\(UInt64.random(in: 1...UInt64.max)).restoring"
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) } }
        let progress = Progress("copying pages")
        try backup.backup(to: draft) { progress.report($0, of: $1) }
        progress.end()
        let report = try await prepare(draft, replacing: present, keys: keys, reason: reason)
        if let present {
            try present.replace(by: draft, keeping: kept)
        } else {
            try SQLiteUpkeep(path: draft).move(to: path)
        }
        show(report, path: path, kept: present == nil ? nil : kept)
    }

    /// Makes the copy fit to be the store.
    private func prepare(
        _ draft: String, replacing present: SQLiteUpkeep?, keys: PersonalKeys, reason: AuditReason?
    ) async throws -> RestoreStore.Report {
        let restored = try SQLiteDatabase(path: draft, clock: { Date() })
        try await restored.migrate(Schema.migrations)
        var replaced: SQLiteDatabase?
        let report: RestoreStore.Report
        do {
            if let present, !lost {
                replaced = try SQLiteDatabase(path: present.path, clock: { Date() })
                try await replaced?.migrate(Schema.migrations)
            }
            report = try await RestoreStore(
                restored: restored, replaced: replaced, keys: keys, surroundings: Surroundings(),
                actor: "admin \(NSUserName())")(reason: reason)
        } catch {
            try? await replaced?.close()
            try? await restored.close()
            guard !lost, present != nil else { throw error }
            throw CommandFailure(
                "The present store cannot be read, so that erasures and revocations since the backup are not known; "
                    + "where it is lost, add --lost.")
        }
        try await replaced?.close()
        try await restored.close()
        return report
    }

    private func show(_ report: RestoreStore.Report, path: String, kept: String?) {
        let counts: KeyValuePairs = [
            "sessions_ended": report.sessionsEnded, "messages_dropped": report.messagesDropped,
            "users_erased_again": report.erased, "bans_again": report.bans,
            "certificates_revoked_again": report.certificatesRevoked,
            "provider_keys_ended_again": report.providerKeysEnded,
            "providers_disabled_again": report.providersDisabled,
        ]
        if shared.json {
            Output.json(
                .object(
                    [
                        JSONMember(name: "restored", value: .string(path)),
                        JSONMember(name: "replaced", value: kept.map { .string($0) } ?? .null),
                    ] + counts.map { JSONMember(name: $0.key, value: .integer(Int64($0.value))) }))
        } else {
            Output.table(
                [["restored", path], ["the store before", kept ?? "-"]]
                    + counts.map { [$0.key.replacing("_", with: " "), String($0.value)] })
        }
    }
}
