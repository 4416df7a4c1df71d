import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories

struct StoreRestoreCommand: InstallationCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace the store with a backup. The service must be stopped; the current store is kept.",
        discussion: """
            All sessions end, pending nonces are refused, unsent messages are dropped. What was erased, revoked, \
            banned, disabled, withdrawn or deleted since the backup stays so, and removed administrators, webhooks, \
            event streams, URLs and origins stay removed: it is replayed from the replaced store. If that is lost, \
            dismissed administrators are active again. The command lists what to repeat by hand. \
            --in-place does this for a store that an engine's own tools have restored, such as pg_restore, before \
            any service runs on it.
            """,
        example: "store restore backup-2026-01-31.db --yes")
    @OptionGroup var shared: SharedOptions
    @Argument(help: "The backup.") var file: String?
    @Flag(help: "Prepare the store of --store for use, which other tools restored.") var inPlace = false
    @Option(help: "With --in-place: the replaced store, to replay erasures, bans and revocations from.")
    var replaced: String?
    @Flag(help: "Restore; without this flag only examine the backup and say what would happen.") var yes = false
    @Flag(help: "Replay nothing: the current store is lost or cannot be read.") var lost = false
    @OptionGroup var why: ReasonOption

    func report(on installation: Installation) async throws -> Report {
        let settings = installation.settings
        let reason = try why.parsed()
        try await installation.require(.manage, on: settings.store)
        let keys = try KeyFiles.personal(in: settings.keys)
        guard !inPlace else {
            guard file == nil, lost != (replaced != nil) else {
                throw CommandFailure(
                    "With --in-place name no backup, and add --replaced with the replaced store, or --lost.",
                    exitCode: .usage)
            }
            return try await RestoreInPlace(
                settings: settings, keys: keys, reason: reason, actor: installation.actor)(
                    replaced: replaced, isAgreed: yes)
        }
        guard let file, replaced == nil else {
            throw CommandFailure("Name the backup; --replaced requires --in-place.", exitCode: .usage)
        }
        guard let path = settings.store.file else {
            throw CommandFailure(
                "This store is not a file: use its engine's own tools, such as pg_restore, and then --in-place.")
        }
        let backup = try BackupFile(examining: file)
        try backup.require(settings.cell, keys, in: settings.keys)
        let present =
            FileManager.default.fileExists(atPath: path) ? try SQLiteMaintenance(path: path, busyTimeout: 1) : nil
        if let origin = try? present?.read(now: Date(), { try $0.origin() }), case .foreign(let table) = origin {
            throw settings.store.foreign(table)
        }
        guard present != nil || lost else {
            throw CommandFailure(
                "There is no store at \(path), so erasures and revocations since the backup are unknown: "
                    + "if it is lost, add --lost.")
        }
        guard yes else {
            throw CommandFailure("\(file) is valid and would replace \(path): add --yes.")
        }
        do {
            try present?.requireUnused()
        } catch StoreError.unavailable {
            throw CommandFailure("\(path) is in use: stop the service and every other command first.")
        }
        let kept = Self.keptName(of: path, at: Date())
        let draft = "\(path).\(UInt64.random(in: 1...UInt64.max)).restoring"
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) } }
        let progress = Progress("copying pages")
        try backup.maintenance.backup(to: draft) { progress.report($0, of: $1) }
        progress.end()
        let report = try await prepare(
            draft, of: .sqlite(path: file), replacing: present, in: settings.cell, keys: keys, reason: reason,
            by: installation.actor)
        if let present {
            try present.replace(by: draft, keeping: kept)
        } else {
            try SQLiteMaintenance(path: draft).move(to: path)
        }
        return Self.report(report, path: path, kept: present == nil ? nil : kept, isLost: lost)
    }

    /// A free name for the replaced store: two restores may happen in one second.
    static func keptName(of path: String, at time: Date) -> String {
        let name = "\(path).replaced-\(time.rfc3339.replacing(":", with: "").replacing("-", with: ""))"
        var (free, number) = (name, 1)
        while FileManager.default.fileExists(atPath: free) {
            number += 1
            free = "\(name)-\(number)"
        }
        return free
    }

    /// Prepares the copy for use as the store.
    private func prepare(
        _ draft: String, of backup: StoreURL, replacing present: SQLiteMaintenance?, in cell: Cell, keys: PersonalKeys,
        reason: AuditReason?, by actor: String
    ) async throws -> RestoreStore.Report {
        let restored = try SQLiteDatabase(path: draft, clock: { Date() })
        try await restored.migrate(Schema.migrations, acceptsNewer: false)
        var replaced: SQLiteDatabase?
        let report: RestoreStore.Report
        do {
            try await restored.claim(cell, at: backup)
            if let present, !lost {
                let place = StoreURL.sqlite(path: present.path)
                replaced = try SQLiteDatabase(path: present.path, clock: { Date() })
                try await replaced?.requireOwn(at: place)
                try await replaced?.requireCurrentSchema(at: .sqlite(path: present.path))
                try await replaced?.require(cell, at: .sqlite(path: present.path))
            }
            report = try await RestoreStore(
                restored: restored, replaced: replaced, keys: keys, environment: Environment(cell: cell),
                actor: actor)(reason: reason)
        } catch {
            try? await replaced?.close()
            try? await restored.close()
            guard !lost, present != nil, !(error is CommandFailure) else { throw error }
            throw CommandFailure(
                "The current store cannot be read, so erasures and revocations since the backup are unknown: "
                    + "if it is lost, add --lost.")
        }
        try await replaced?.close()
        try await restored.close()
        return report
    }

    /// The changes of the store that is used from now on.
    ///
    /// - Parameter isLost: whether nothing was replayed.
    static func report(_ done: RestoreStore.Report, path: String, kept: String?, isLost: Bool) -> Report {
        var entries: [Entry] = [
            Entry("restored", path), Entry("replaced", "the store before", kept),
            Entry("sessions_ended", done.sessionsEnded), Entry("messages_dropped", done.messagesDropped),
            Entry("users_erased_again", done.erased), Entry("bans_again", done.bans),
            Entry("certificates_revoked_again", done.certificatesRevoked),
            Entry("provider_keys_ended_again", done.providerKeysEnded),
            Entry("providers_disabled_again", done.providersDisabled),
            Entry("withdrawals_again", done.withdrawals), Entry("receivers_removed_again", done.receivers.count),
            .json("receivers", done.receivers),
        ]
        entries += done.receivers.map { .people("removed again", $0) }
        return Report(entries + RepeatByHand.entries(isLost: isLost))
    }
}

/// Prepares a store for use, in place, after other tools have restored it.
struct RestoreInPlace {
    let settings: Settings
    let keys: PersonalKeys
    let reason: AuditReason?
    let actor: String

    /// Prepares the store.
    ///
    /// - Parameters:
    ///   - replaced: the address of the store that it replaces; `nil` if that is lost.
    ///   - isAgreed: whether the operator has confirmed.
    func callAsFunction(replaced: String?, isAgreed: Bool) async throws -> Report {
        let place = settings.store.place
        let former: StoreURL?
        do {
            former = try replaced.map { try StoreURL.parse($0) }
        } catch {
            throw CommandFailure("--replaced must be the address of a store.", exitCode: .usage)
        }
        guard isAgreed else {
            let effect = former.map { ", and erasures, bans and revocations of \($0.place) would be replayed" } ?? ""
            throw CommandFailure("All sessions in \(place) would end\(effect): add --yes.")
        }
        if let file = settings.store.file { try requireUnused(file) }
        let restored = try settings.store.open(clock: { Date() })
        var stores: [any Database] = [restored]
        do {
            if let server = restored as? PostgreSQLDatabase, try await server.countOtherSessions() > 0 {
                throw CommandFailure(
                    "\(place) is in use: stop the service on every node and every other command first.")
            }
            try await restored.requireOwn(at: settings.store)
            guard try await restored.currentMigration() > 0 else { throw settings.store.missing }
            try await require(keys, restored, at: place)
            try await restored.migrate(Schema.migrations, acceptsNewer: false)
            try await restored.claim(settings.cell, at: settings.store)
            if let file = former?.file, !FileManager.default.fileExists(atPath: file) {
                throw CommandFailure("There is no store at \(file): if it is lost, add --lost.")
            }
            if let former {
                stores.append(try former.openPresent())
                try await stores[1].requirePresent(at: former, in: settings.cell)
                try await require(keys, stores[1], at: former.place)
            }
            let report = try await RestoreStore(
                restored: restored, replaced: stores.count > 1 ? stores[1] : nil, keys: keys,
                environment: Environment(cell: settings.cell), actor: actor)(reason: reason)
            for store in stores { try await store.close() }
            return StoreRestoreCommand.report(report, path: place, kept: former?.place, isLost: former == nil)
        } catch {
            for store in stores { try? await store.close() }
            throw error
        }
    }

    private func require(_ keys: PersonalKeys, _ store: any Database, at place: String) async throws {
        try await store.read { [directory = settings.keys] in try keys.require(in: $0, directory, of: place) }
    }

    private func requireUnused(_ file: String) throws {
        do {
            let present = try SQLiteMaintenance(path: file, busyTimeout: 1)
            if let origin = try? present.read(now: Date(), { try $0.origin() }), case .foreign(let table) = origin {
                throw settings.store.foreign(table)
            }
            try present.requireUnused()
        } catch StoreError.unavailable {
            throw CommandFailure("\(file) is in use or is not a store: stop the service and every other command first.")
        }
    }
}
