import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

extension BanCommand {
    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the newest bans.",
            example: "ban list --active")
        @OptionGroup var shared: SharedOptions
        @Flag(help: "List only active bans.") var active = false
        @OptionGroup var page: PageOptions

        func report(_ admin: Admin) async throws -> Report {
            page.report(
                try await admin.administrationWithKeys().listBans(
                    isActive: active, limit: page.limit, after: page.cursor), BanCommand.fields)
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a ban with its notes, which may name people.",
            discussion: "The access is recorded in the audit log.",
            example: "ban show 4f1c9a3e")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The ban's id or its beginning.") var ban: TypedID<Kind.Ban>

        func report(_ admin: Admin) async throws -> Report {
            let detail = try await admin.administration.readBan(admin.resolve(ban))
            let lifted = detail.summary.ban.lifted.map { "\($0.at.rfc3339) by \($0.actor)" }
            return Report(
                BanCommand.fields.map { $0.entry(detail.summary) } + [
                    .people("lifted", lifted, none: nil), Entry("note", detail.note, none: nil),
                    Entry("lift_note", "lifted because", detail.liftNote, none: nil),
                ]
            ).with("entries", detail.summary.entries, BanCommand.entryFields)
        }
    }

    struct History: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List every ban of a subject, past ones too, newest first.",
            example: "ban history --user acme/ada")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var subject: BanSubjectOptions

        func report(_ admin: Admin) async throws -> Report {
            let target = try await subject.required(admin)
            let found = try await admin.administration.banHistory(of: target)
            return Report(found, BanCommand.fields, none: "There was never a ban on this subject.")
        }
    }

    /// The effect of a ban, or its preview.
    ///
    /// - Parameters:
    ///   - ban: `nil` if nothing was changed.
    ///   - end: the end of the ban, or of the previewed one; `nil` if it is permanent.
    static func report(_ ban: Ban?, until end: Date?, _ impact: BanImpact) -> Report {
        let users = Report(
            impact.users, [Field("user_id") { $0.user.id }, Field("address") { $0.address }])
        let names = impact.users.map { "\($0.address) (\($0.user.id))" }
        var entries: [Entry] = [
            Entry("ban_id", "ban", ban?.id, none: nil), .json("dry_run", ban == nil),
            Entry("ends_at", "until", ReportCell(end.cell.json, Self.end(end))),
        ]
        entries += impact.replaced.map { .people("in place of", "\($0.id), until \(Self.end($0.endsAt))") }
        entries += [
            Entry("users", ReportCell(users.json, counted(names))),
            Entry("sessions", impact.sessions.count),
            Entry("devices", ReportCell(impact.devices.cell.json, counted(impact.devices.map(\.description)))),
            Entry("authorizations", ReportCell(impact.authorizations.cell.json, impact.authorizationsText)),
            .json("replaced", impact.replaced.map(\.id)),
            Entry("holds_number", "phone number", banned(impact.holdsNumber)),
            Entry("holds_document", "document", banned(impact.holdsDocument)),
        ]
        return Report(entries).noting(previewNote(ban == nil))
    }

    /// The number of names, and the first of them.
    private static func counted(_ names: [String]) -> String {
        let shown = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : "")
        return names.isEmpty ? "0" : "\(names.count): \(shown)"
    }

    private static func banned(_ isBanned: Bool) -> ReportCell {
        ReportCell(.bool(isBanned), isBanned ? "banned too" : "not banned")
    }

    private static func direct(_ summary: Administration.BanSummary) -> BanEntry? {
        summary.entries.first { $0.origin == .direct }
    }

    /// Numbers and documents are shown by their blind indexes, because nothing else of them is stored.
    private static func names(of subject: BanEntry.Subject) -> (kind: String, text: String) {
        switch subject {
        case .user(let id): ("user", id.description)
        case .phone(let index): ("phone", index.base64URL)
        case .document(let index): ("document", index.base64URL)
        case .device(let id): ("device", id.description)
        case .deviceKey(let hash): ("device key", hash.base64URL)
        }
    }

    private static func end(_ time: Date?) -> String { time?.rfc3339 ?? "permanent" }

    private static var fields: [Field<Administration.BanSummary>] {
        [
            Field("ban_id", "ban", column: "BAN") { $0.ban.id }, .json("kind") { $0.ban.kind.rawValue },
            .json("subject") { direct($0).map { names(of: $0.subject).text } },
            .people("subject", column: "SUBJECT") { summary in
                "\(summary.ban.kind.rawValue) \(direct(summary).map { names(of: $0.subject).text } ?? "erased")"
            },
            Field("scope", column: "SCOPE") { $0.ban.scope.rawValue },
            Field("reason", column: "REASON") { $0.ban.reason.rawValue }, Field("by") { $0.ban.actor },
            Field("created_at", "created", column: "CREATED") { $0.ban.createdAt },
            Field("ends_at", "until", column: "UNTIL", none: "permanent") { $0.ban.endsAt },
            Field("state", column: "STATE") { $0.ban.state(at: Date()).rawValue },
            .json("lifted_at") { $0.ban.lifted?.at }, .json("lifted_by") { $0.ban.lifted?.actor },
        ]
    }

    private static var entryFields: [Field<BanEntry>] {
        [
            Field("kind", column: "KIND") { entry in
                let kind = names(of: entry.subject).kind
                return ReportCell(.string(kind.replacing(" ", with: "_")), kind)
            },
            Field("subject", column: "SUBJECT") { names(of: $0.subject).text },
            Field("origin", column: "ORIGIN") { $0.origin.word },
            Field("ends_at", column: "UNTIL", none: "permanent") { $0.endsAt },
        ]
    }
}
