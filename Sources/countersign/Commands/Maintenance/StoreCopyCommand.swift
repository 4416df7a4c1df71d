import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Operations
import Synchronization

struct StoreCopyCommand: InstallationCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract:
            "Copy a store into an empty one, also while the service runs; with --final the copy takes its place.",
        discussion: """
            Each run continues the previous one and copies what changed since. --final retires the source's tables, so \
            that it cannot be used, copies the rest and puts the copy into use. Exit code 1 if a table \
            differs.
            """,
        example: "store copy sqlite:countersign.db postgresql://db.example/auth")
    @OptionGroup var shared: SharedOptions
    @Argument(help: "The store to copy: sqlite:PATH or postgresql://HOST/NAME.") var from: String
    @Argument(help: "The empty target store, or the copy to continue.") var to: String
    @Flag(help: "Move the store: the source cannot be used from then on. Stop the service first.") var final = false
    @Flag(help: "With --final: disconnect nodes that still serve the source; they end by themselves.") var cut = false
    @Flag(help: "Do what --final says; without this flag only say what would happen.") var yes = false

    func report(on installation: Installation) async throws -> Report {
        let settings = installation.settings
        let (source, target) = (try address(from), try address(to))
        guard yes || !final else {
            throw CommandFailure(
                "\(target.place) would take the place of \(source.place), which would be retired: add --yes."
            )
        }
        guard final || !cut else { throw CommandFailure("--cut requires --final.", exitCode: .usage) }
        try await installation.require(.manage, on: source)
        let stores = (try source.openPresent(), try target.open(clock: { Date() }))
        let copied: CopyStore.Report
        do {
            // A store that was already moved is not checked, so that its move can be completed.
            if try await stores.0.copyMarks().source?.state != .moved {
                try await stores.0.requirePresent(at: source, in: settings.cell)
            }
            copied = try await copy(stores, (source.place, target.place), in: settings.cell, by: installation.actor)
            try await stores.0.close()
            try await stores.1.close()
        } catch {
            try? await stores.0.close()
            try? await stores.1.close()
            if let refusal = error as? Refusal, refusal.reason == .nodesLive {
                throw CommandFailure("\(refusal.detail) Or disconnect them with --cut.")
            }
            if let refusal = error as? Refusal, refusal.code == .unavailable {
                throw CommandFailure(
                    "A store cannot be reached (\(refusal.privateDetail ?? "no cause is known")): run the copy again, "
                        + "and it continues.", exitCode: .storeUnavailable)
            }
            throw error
        }
        var report = report(copied, (source.place, target.place))
        if !copied.isEqual {
            let count = copied.tables.count { !$0.isEqual }
            report.failure = CommandFailure(
                final
                    ? "\(count.counting("table")) did not match, so the copy is not in use: run the command again."
                    : "Tables changed after they were copied (\(count) of them): stop the service and add --final.")
        }
        return report
    }

    private func copy(
        _ stores: (any Database, any Database), _ places: (source: String, target: String), in cell: Cell,
        by actor: String
    ) async throws -> CopyStore.Report {
        let shown = Mutex<(step: CopyStore.Step, progress: Progress)?>(nil)
        defer { shown.withLock { $0?.progress.end() } }
        return try await CopyStore(
            source: stores.0, target: stores.1, places: places, environment: Environment(cell: cell), actor: actor
        )(isFinal: final, cutsNodes: cut) { step, done, all in
            shown.withLock { shown in
                if shown?.step != step {
                    shown?.progress.end()
                    shown = (step, Progress(step.rawValue))
                }
                shown?.progress.report(done, of: all)
            }
        }
    }

    private func report(_ copied: CopyStore.Report, _ places: (source: String, target: String)) -> Report {
        let fields: [Field<CopyStore.Comparison>] = [
            Field("table", column: "TABLE") { $0.table }, .json("equal") { $0.isEqual },
            Field("source_rows", column: "ROWS") { $0.source.rows },
            Field("target_rows", column: "ROWS OF THE COPY") { $0.target.rows },
            Field("source_checksum", column: "CHECKSUM") {
                ReportCell(.string($0.source.checksum), String($0.source.checksum.prefix(16)))
            },
            .json("target_checksum") { $0.target.checksum },
            .people(column: "STATE") { $0.isEqual ? "equal" : "differs" },
        ]
        return Report(
            Report([
                .json("from", places.source), .json("to", places.target), .json("finished", copied.isFinished),
                .json("equal", copied.isEqual), .json("tables", Report(copied.tables, fields)),
            ]).json, tables: copied.tables.isEmpty ? [] : [Report.table(copied.tables, fields)]
        ).noting(
            copied.isFinished
                ? "\(places.target) is the store now: start the service with it."
                : "\(places.source) is still the store; --final makes the copy take its place.")
    }

    private func address(_ text: String) throws(CommandFailure) -> StoreURL {
        do {
            return try StoreURL.parse(text)
        } catch {
            throw CommandFailure(
                "FROM and TO must be addresses of stores such as sqlite:countersign.db or postgresql://HOST/NAME.",
                exitCode: .usage)
        }
    }
}

struct StoreReopenCommand: InstallationCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen", abstract: "Put a moved store back into use.",
        discussion: """
            What was written to the copy since is not in it. Unless the copy was never put into use, sessions end, and \
            its erasures, revocations and bans are replayed, as after a restore.
            """,
        example: "store reopen --lost --yes")
    @OptionGroup var shared: SharedOptions
    @Flag(help: "Reopen the store; without this flag only say what would happen.") var yes = false
    @Option(help: "The store that it was moved to, to replay its bans and erasures. No service may run on it.")
    var replaced: String?
    @Flag(help: "Replay nothing: the store that it was moved to is lost or cannot be read.") var lost = false
    @OptionGroup var why: ReasonOption

    func report(on installation: Installation) async throws -> Report {
        let settings = installation.settings
        let reason = try why.parsed()
        try await installation.require(.manage, on: settings.store)
        let store = try settings.store.openPresent()
        var copy: (any Database)?
        do {
            try await store.requireOwn(at: settings.store)
            guard case .moved(let place) = try await store.availability() else {
                throw CommandFailure("This store was not moved: it is in use.")
            }
            guard lost != (replaced != nil) else {
                throw CommandFailure(
                    "Name \(place) with --replaced, so that what was ended, banned or erased there stays so. Add "
                        + "--lost instead if it is lost.", exitCode: .usage)
            }
            guard yes else {
                throw CommandFailure(
                    "This store would be in use again, without what was written to \(place) since: make sure that no "
                        + "service runs there, and add --yes.")
            }
            let keys = try KeyFiles.personal(in: settings.keys)
            copy = try replaced.map { try StoreURL.parse($0).openPresent() }
            if let copy, let replaced {
                try await copy.requireOwn(at: try StoreURL.parse(replaced))
                try await copy.read { try keys.require(in: $0, settings.keys, of: replaced) }
            }
            let source = try await store.copyMarks().source
            let target = try await copy?.copyMarks().target
            guard copy == nil || target?.copy == source?.copy else {
                throw CommandFailure(
                    "\(replaced ?? "") is not a copy of this store: name the store that it was moved to.")
            }
            // A copy that was never in use has nothing to replay.
            if target?.state == .open {
                _ = try await store.takeBack()
            } else {
                let restore = RestoreStore(
                    restored: store, replaced: copy, keys: keys,
                    environment: Environment(cell: settings.cell), actor: installation.actor)
                let decision = try await restore.decision(reason: reason)
                _ = try await store.takeBack { transaction in
                    try settings.cell.require(in: transaction, at: settings.store)
                    _ = try decision(transaction)
                }
            }
            try await copy?.close()
            try await store.close()
        } catch {
            try? await copy?.close()
            try? await store.close()
            throw error
        }
        let place = settings.store.place
        let entries = RepeatByHand.entries(isLost: lost)
        var report = Report("\(place) is in use again.", json: [.json("reopened", place)] + entries)
        if lost { report.notes = RepeatByHand.allCases.map { "Repeat by hand: \($0.row)" } }
        return report
    }
}
