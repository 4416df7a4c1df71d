import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign audit …`: the audit log and its verification.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Shows, verifies and exports the audit log.",
        subcommands: [Tail.self, Verify.self, Export.self])

    struct Tail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows the newest entries; those that are not chained yet have no number.")
        @OptionGroup var shared: SharedOptions
        @Flag(help: "Continue with each entry as it is chained, until interrupted; with --json one value a line.")
        var follow = false
        @Option(help: "How many.") var limit = 20
        @Option(help: "Only those about this: an id, or the whole subject such as \"user ID\".") var subject: String?
        @Option(help: "Only this event, such as session_ended.") var event: String?
        @Option(help: "Only those since: 24h ago, 2026-01-31 or 2026-01-31T23:59:59Z.") var since: String?
        @Option(help: "Only those before this number, the first of the page before.") var cursor: Int64?

        func validate() throws {
            guard (0...10_000).contains(limit) else { throw ValidationError("--limit takes 0 to 10000.") }
        }

        func run() async throws {
            let filter = try filter()
            guard cursor == nil || !follow else {
                throw CommandFailure("--cursor goes back, and --follow on: give one of the two.", exitCode: .usage)
            }
            try await Admin.run(shared) { admin in
                let read = ReadAudit(store: admin.store)
                if !follow, cursor != nil || !filter.isOpen {
                    return AuditCommand.show(
                        try await read.search(filter, before: cursor, count: limit)[...], json: shared.json)
                }
                var stamp = try read.changeStamp()
                let lines = try await read.tail(max(1, limit), unchained: !follow)
                if !follow { return AuditCommand.show(lines.suffix(limit), json: shared.json) }
                AuditCommand.follow(lines.suffix(limit), filter, json: shared.json)
                var last = lines.last?.place?.sequence ?? 0
                while !Task.isCancelled {
                    let more = try await read.next(after: last)
                    AuditCommand.follow(more[...], filter, json: shared.json)
                    last = more.last?.place?.sequence ?? last
                    guard more.isEmpty else { continue }
                    repeat { try await Task.sleep(for: .milliseconds(200)) } while try read.changeStamp() == stamp
                    stamp = try read.changeStamp()
                }
            }
        }

        private func filter() throws -> AuditFilter {
            let since = try since.map { text throws(CommandFailure) in try moment(text, "--since", now: Date()) }
            return try BanCommand.asUsage { try AuditFilter(subject: subject, event: event, since: since) }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verifies the whole log; exit code 1 if an entry was changed, removed, moved or cut off.")
        @OptionGroup var shared: SharedOptions
        @Option(help: "A checkpoint that was kept elsewhere, such as in an export or the service's log.")
        var checkpoint: String?

        func run() async throws {
            let settings = try Settings.resolve(shared: shared)
            let keys = try KeyFiles.auditKeys(in: settings.keys)
            let witness = try checkpoint.map { token throws(CommandFailure) in
                do throws(AuditCheckpoint.Fault) {
                    return try AuditCheckpoint(token: token, keys: keys)
                } catch {
                    throw CommandFailure("--checkpoint is not signed by a service key in \(settings.keys).")
                }
            }
            let progress = Progress("verifying entries")
            let report = try await Admin.run(shared) { admin in
                try await VerifyAudit(store: admin.store, keys: keys)(witness: witness) { progress.report($0, of: $1) }
            }
            progress.end()
            AuditCommand.show(report, json: shared.json)
            if let defect = report.defect { throw CommandFailure("The audit log is not valid: \(defect).") }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Exports all chained entries as lines of JSON for an external verifier.")
        @OptionGroup var shared: SharedOptions

        func run() async throws {
            let settings = try Settings.resolve(shared: shared)
            let keys = try KeyFiles.auditKeys(in: settings.keys).sorted { $0.key < $1.key }.map {
                WebKey.json($0.value)
            }
            let progress = Progress("exporting entries")
            try await Admin.run(shared) { admin in
                try await ReadAudit(store: admin.store).export(
                    keys: .array(keys), write: { try Output.lines($0) }, progress: { progress.report($0, of: $1) })
            }
            progress.end()
        }
    }

    private static func show(_ lines: ArraySlice<ReadAudit.Entry>, json: Bool) {
        if json { return Output.json(.array(lines.map { ReadAudit.json($0.entry, place: $0.place) })) }
        Output.table(
            [["ENTRY", "AT", "EVENT", "SUBJECT", "ACTOR", "REASON", "DETAIL"]]
                + lines.map {
                    [
                        $0.place.map { String($0.sequence) } ?? "-", $0.entry.at.rfc3339, $0.entry.event,
                        $0.entry.subject, $0.entry.actor, $0.entry.reason ?? "-", $0.entry.detail ?? "-",
                    ]
                })
    }

    /// Lines that arrive one by one cannot be set in columns.
    private static func follow(_ lines: ArraySlice<ReadAudit.Entry>, _ filter: AuditFilter, json: Bool) {
        for line in lines where filter.admits(line.entry) {
            if json {
                Output.json(ReadAudit.json(line.entry, place: line.place))
            } else {
                let entry = line.entry
                Output.table([
                    [
                        [
                            line.place.map { String($0.sequence) } ?? "-", entry.at.rfc3339, entry.event, entry.subject,
                            "by", entry.actor, entry.reason ?? "", entry.detail ?? "",
                        ].filter { !$0.isEmpty }.joined(separator: " ")
                    ]
                ])
            }
        }
    }

    static func show(_ report: VerifyAudit.Report, json: Bool) {
        let first = (report.anchor?.sequence ?? 0) + 1
        let purgedAt = report.anchor?.at.rfc3339
        if json {
            return Output.json(
                .object([
                    "valid": .bool(report.defect == nil), "verified_from": .integer(first),
                    "purged_at": purgedAt.map { .string($0) } ?? .null, "entries": .integer(report.entries),
                    "checkpoints": .integer(Int64(report.checkpoints)), "signed_through": .integer(report.signed),
                    "digest": .string(report.digest.base64URL), "unchained": .integer(Int64(report.unchained)),
                    "defect": report.defect.map {
                        .object(["entry": .integer($0.sequence), "detail": .string($0.description)])
                    } ?? .null,
                ]))
        }
        Output.table(
            [
                [
                    "verified from",
                    "entry \(first)\(purgedAt.map { ": those before it were purged by policy at \($0)" } ?? "")",
                ],
                ["valid entries", String(report.entries)], ["checkpoints", String(report.checkpoints)],
                ["signed through entry", String(report.signed)], ["digest", report.digest.base64URL],
                ["not chained yet", String(report.unchained)],
                ["verdict", report.defect == nil ? "valid" : "not valid"],
            ], verdict: report.defect == nil)
    }
}
