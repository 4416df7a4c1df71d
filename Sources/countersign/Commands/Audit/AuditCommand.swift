import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign audit …`: the audit log and its verification.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show, verify and export the audit log.",
        subcommands: [Tail.self, Verify.self, Export.self])

    struct Tail: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the newest entries; those that are not chained yet have no number.",
            example: "audit tail --subject acme/ada --since 24h")
        @OptionGroup var shared: SharedOptions
        @Flag(help: "Continue with each entry as it is chained, until interrupted; with --json one value a line.")
        var follow = false
        @Option(help: "Maximum number of entries.") var limit = 20
        @Option(
            help: "The subject of the entries: an id or its beginning, <provider slug>/<external id>, or \"user ID\".")
        var subject: String?
        @Option(help: "The event of the entries, such as session_ended.") var event: String?
        @Option(help: "The earliest time: 24h (ago), 2026-01-31 or 2026-01-31T23:59:59Z.") var since: String?
        @Option(help: "End before this number (the first one of the previous page).") var cursor: Int64?

        func validate() throws {
            guard (follow ? 0...10_000 : 1...10_000).contains(limit) else {
                throw ValidationError("--limit must be 1 to 10000, or 0 with --follow.")
            }
            guard (cursor ?? 1) > 0 else { throw ValidationError("--cursor must be the number of an entry.") }
        }

        func report(_ admin: Admin) async throws -> Report {
            let filter = try await filter(admin)
            guard cursor == nil || !follow else {
                throw CommandFailure("--follow starts at the newest entry. Remove --cursor.", exitCode: .usage)
            }
            let read = ReadAudit(store: try await admin.store(for: .audit))
            if !follow, cursor != nil || !filter.isOpen {
                let found = try await read.search(filter, before: cursor, count: limit)
                let place = cursor.map { " before number \($0)" } ?? ""
                return AuditCommand.report(found).noting(
                    found.isEmpty ? "The audit log has no \(filter.isOpen ? "" : "such ")entry\(place)." : nil)
            }
            var stamp = try read.changeStamp()
            let lines = try await read.tail(max(1, limit), unchained: !follow)
            if !follow { return AuditCommand.report(lines.suffix(limit)) }
            show(lines.suffix(limit), filter)
            var last = lines.last?.place?.sequence ?? 0
            while !Task.isCancelled {
                let more = try await read.next(after: last)
                show(more, filter)
                last = more.last?.place?.sequence ?? last
                guard more.isEmpty else { continue }
                repeat { try await Task.sleep(for: .milliseconds(200)) } while try read.changeStamp() == stamp
                stamp = try read.changeStamp()
            }
            return .shown
        }

        /// Lines that arrive one by one cannot be aligned in columns.
        private func show(_ lines: [ReadAudit.Entry], _ filter: ReadAudit.Filter) {
            for line in lines where filter.admits(line.entry) {
                let entry = line.entry
                let words = [
                    line.place.map { String($0.sequence) } ?? "-", entry.at.rfc3339, entry.event, entry.subject,
                    "by", entry.actor, entry.reason ?? "", entry.detail ?? "",
                ].filter { !$0.isEmpty }
                show(
                    Report(
                        ReadAudit.json(entry, place: line.place), tables: [[[words.joined(separator: " ")]]]))
            }
        }

        private func filter(_ admin: Admin) async throws -> ReadAudit.Filter {
            let since = try since.map { text throws(CommandFailure) in try moment(text, "--since", now: Date()) }
            let open = try asUsage { try ReadAudit.Filter(event: event, since: since) }
            guard let subject else { return open }
            let subjects = try await admin.administration.auditSubjects(meantBy: subject, mayBeNew: follow)
            return try ReadAudit.Filter(subjects: subjects, event: event, since: since)
        }
    }

    struct Verify: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify the whole log; exit code 1 if an entry was changed, removed, moved or cut off.",
            example: "audit verify")
        @OptionGroup var shared: SharedOptions
        @Option(help: "A checkpoint that was kept elsewhere, such as in an export or the service's log.")
        var checkpoint: String?

        func report(_ admin: Admin) async throws -> Report {
            let keys = try KeyFiles.auditKeys(in: admin.settings.keys)
            let witness = try checkpoint.map { token throws(CommandFailure) in
                do throws(AuditCheckpoint.Fault) {
                    return try AuditCheckpoint(token: token, keys: keys)
                } catch {
                    throw CommandFailure(
                        "--checkpoint is not signed by a service key in \(admin.settings.keys).")
                }
            }
            let progress = Progress("verifying entries")
            let store = try await admin.store(for: .audit)
            let verified = try await VerifyAudit(store: store, keys: keys)(witness: witness) {
                progress.report($0, of: $1)
            }
            progress.end()
            return AuditCommand.report(verified)
        }
    }

    struct Export: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Export all chained entries as lines of JSON for an external verifier.",
            example: "audit export > audit.jsonl")
        @OptionGroup var shared: SharedOptions

        func report(_ admin: Admin) async throws -> Report {
            let keys = try KeyFiles.auditKeys(in: admin.settings.keys).sorted { $0.key < $1.key }.map {
                WebKey.json($0.value)
            }
            let progress = Progress("exporting entries")
            try await ReadAudit(store: try await admin.store(for: .audit)).export(
                keys: .array(keys), write: { try show(lines: $0) }, progress: { progress.report($0, of: $1) })
            progress.end()
            return .shown
        }
    }

    private static var fields: [Field<ReadAudit.Entry>] {
        [
            .people(column: "ENTRY") { $0.place?.sequence }, .people(column: "AT") { $0.entry.at },
            .people(column: "EVENT") { $0.entry.event }, .people(column: "SUBJECT") { $0.entry.subject },
            .people(column: "ACTOR") { $0.entry.actor }, .people(column: "REASON") { $0.entry.reason },
            .people(column: "DETAIL") { $0.entry.detail },
        ]
    }

    /// The JSON has the form of an export.
    private static func report(_ entries: [ReadAudit.Entry]) -> Report {
        Report(
            .array(entries.map { ReadAudit.json($0.entry, place: $0.place) }), tables: [Report.table(entries, fields)])
    }

    private static func report(_ verified: VerifyAudit.Report) -> Report {
        let first = (verified.anchor?.sequence ?? 0) + 1
        let purgedAt = verified.anchor?.at
        let isValid = verified.defect == nil
        let start = purgedAt.map { ": earlier entries were purged by policy at \($0.rfc3339)" } ?? ""
        var report = Report([
            .json("valid", isValid),
            Entry("verified_from", ReportCell(.integer(first), "entry \(first)\(start)")), .json("purged_at", purgedAt),
            Entry("entries", "valid entries", verified.entries), Entry("checkpoints", verified.checkpoints),
            Entry("signed_through", "signed through entry", verified.signed),
            Entry("digest", verified.digest.base64URL), Entry("unchained", "not chained yet", verified.unchained),
            .people("verdict", isValid ? "valid" : "not valid"),
            .json(
                "defect",
                verified.defect.map { Report([.json("entry", $0.sequence), .json("detail", $0.description)]) }),
        ])
        report.verdict = isValid
        report.failure = verified.defect.map { CommandFailure("The audit log is not valid: \($0).") }
        return report
    }
}
