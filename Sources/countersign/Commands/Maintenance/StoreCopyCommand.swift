import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Operations
import Synchronization

/// `countersign store copy`.
struct StoreCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract:
            "Copies a store into an empty one, also while the service runs; with --final the copy takes its place.",
        discussion: """
            Each run continues the one before and copies what changed since. --final retires the source's tables, so \
            that nothing can use it any more, copies the rest and puts the copy into use. Exit code 1 if a table differs.
            """)
    @OptionGroup var shared: SharedOptions
    @Argument(help: "The store to copy: sqlite:PATH or postgresql://HOST/NAME.") var from: String
    @Argument(help: "The empty target store, or the copy to continue.") var to: String
    @Flag(help: "Move: the source is out of use from then on. Stop the service first.") var final = false
    @Flag(help: "With --final: shut out nodes that still serve the source; they end by themselves.") var cut = false
    @Flag(help: "Do what --final says; without this, only say what would happen.") var yes = false

    func run() async throws {
        let settings = try Settings.resolve(shared: shared)
        let (source, target) = (try address(from), try address(to))
        guard yes || !final else {
            throw CommandFailure(
                "\(target.place) would take the place of \(source.place), which nothing could use any more: add --yes.")
        }
        guard final || !cut else { throw CommandFailure("--cut requires --final.", exitCode: .usage) }
        let stores = (try source.openPresent(), try target.open(clock: { Date() }))
        let report: CopyStore.Report
        do {
            // A store that was moved already is completed.
            if try await stores.0.copyMarks().source?.state != .moved {
                try await stores.0.requirePresent(at: source, in: settings.cell)
            }
            report = try await copy(stores, (source.place, target.place), in: settings.cell)
            try await stores.0.close()
            try await stores.1.close()
        } catch {
            try? await stores.0.close()
            try? await stores.1.close()
            if let refusal = error as? Refusal, refusal.reason == .nodesLive {
                throw CommandFailure("\(refusal.detail) Or shut them out with --cut.")
            }
            if let refusal = error as? Refusal, refusal.code == .unavailable {
                throw CommandFailure(
                    "A store cannot be reached (\(refusal.privateDetail ?? "no cause is known")): run the copy again, "
                        + "and it continues.", exitCode: .storeUnavailable)
            }
            throw error
        }
        show(report, (source.place, target.place))
        guard report.isEqual else {
            let count = report.tables.count { !$0.isEqual }
            throw CommandFailure(
                final
                    ? "\(count) tables differ, so that the copy is not in use: run it again."
                    : "\(count) tables have changed since they were copied: stop the service, and run it with --final.")
        }
    }

    private func copy(
        _ stores: (any Database, any Database), _ places: (source: String, target: String), in cell: Cell
    ) async throws -> CopyStore.Report {
        let shown = Mutex<(step: CopyStore.Step, progress: Progress)?>(nil)
        defer { shown.withLock { $0?.progress.end() } }
        return try await CopyStore(
            source: stores.0, target: stores.1, places: places, environment: Environment(cell: cell),
            actor: try OperatorName.text(actor: shared.actor)
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

    private func show(_ report: CopyStore.Report, _ places: (source: String, target: String)) {
        if shared.json {
            Output.json(
                .object([
                    "from": .string(places.source), "to": .string(places.target),
                    "finished": .bool(report.isFinished), "equal": .bool(report.isEqual),
                    "tables": .array(
                        report.tables.map { table in
                            .object([
                                "table": .string(table.table), "equal": .bool(table.isEqual),
                                "source_rows": .integer(table.source.rows),
                                "target_rows": .integer(table.target.rows),
                                "source_checksum": .string(table.source.checksum),
                                "target_checksum": .string(table.target.checksum),
                            ])
                        }),
                ]))
            return
        }
        if !report.tables.isEmpty {
            Output.table(
                [["TABLE", "ROWS", "ROWS OF THE COPY", "CHECKSUM", "STATE"]]
                    + report.tables.map { table in
                        [
                            table.table, String(table.source.rows), String(table.target.rows),
                            String(table.source.checksum.prefix(16)), table.isEqual ? "equal" : "differs",
                        ]
                    })
        }
        Output.note(
            report.isFinished
                ? "\(places.target) is the store now: start the service with it."
                : "\(places.source) is still the store; --final makes the copy take its place.")
    }

    private func address(_ text: String) throws(CommandFailure) -> StoreURL {
        do {
            return try StoreURL.parse(text)
        } catch {
            throw CommandFailure(
                "FROM and TO are addresses of stores such as sqlite:countersign.db or postgresql://HOST/NAME.",
                exitCode: .usage)
        }
    }
}

/// `countersign store reopen`.
struct StoreReopenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen", abstract: "Puts a moved store back into use.",
        discussion: """
            What was written to the copy since is not in it. Unless the copy was never put into use, sessions end, and its \
            erasures, revocations and bans are replayed, as after a restore.
            """)
    @OptionGroup var shared: SharedOptions
    @Flag(help: "Do it; without this, only say what would happen.") var yes = false
    @Option(help: "The store that it was moved to, to replay its bans and erasures. No service may run on it.")
    var replaced: String?
    @Flag(help: "That store is lost or cannot be read: replay nothing from it.") var lost = false
    @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?

    func run() async throws {
        let settings = try Settings.resolve(shared: shared)
        let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
        let store = try settings.store.openPresent()
        var copy: (any Database)?
        do {
            guard case .moved(let place) = try await store.availability() else {
                throw CommandFailure("This store was not moved: it is in use.")
            }
            guard lost != (replaced != nil) else {
                throw CommandFailure(
                    "Name \(place) with --replaced, so that what was ended, banned or erased there stays so, or say "
                        + "--lost if it is lost.", exitCode: .usage)
            }
            guard yes else {
                throw CommandFailure(
                    "This store would be in use again, without what was written to \(place) since: make sure that no "
                        + "service runs there, and add --yes.")
            }
            copy = try replaced.map { try StoreURL.parse($0).openPresent() }
            let source = try await store.copyMarks().source
            let target = try await copy?.copyMarks().target
            guard copy == nil || target?.copy == source?.copy else {
                throw CommandFailure("\(replaced ?? "") is no copy of this store.")
            }
            // A copy that was never in use has nothing to replay.
            if target?.state == .open {
                _ = try await store.takeBack()
            } else {
                let restore = RestoreStore(
                    restored: store, replaced: copy, keys: try KeyFiles.personal(in: settings.keys),
                    environment: Environment(cell: settings.cell), actor: try OperatorName.text(actor: shared.actor))
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
        if shared.json {
            Output.json(.object(["reopened": .string(settings.store.place)]))
        } else {
            Output.table([["\(settings.store.place) is in use again."]])
        }
    }
}
