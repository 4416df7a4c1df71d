import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

extension BanCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest bans.")
        @OptionGroup var shared: SharedOptions
        @Flag(help: "Only those in force.") var active = false
        @OptionGroup var page: PageOptions

        func run() async throws {
            let summaries = try await Admin.run(shared) {
                try await ListBans($0.contextWithPersonalKeys())(
                    isActive: active, limit: page.limit, after: page.cursor)
            }
            BanCommand.list(summaries, json: shared.json)
            page.noteRest(summaries.count, last: summaries.last?.ban.id.description)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a ban with its notes, which may name people. The access is written into the audit log.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var ban: String

        func run() async throws {
            let id: BanID = try identifier(ban, "ban")
            let detail = try await Admin.run(shared) { try await ReadBan($0.context, keys: $0.personalKeys())(id) }
            let summary = detail.summary
            if shared.json {
                guard case .object(let members) = BanCommand.json(summary) else { return }
                return Output.json(
                    .object(
                        members + [
                            JSONMember(name: "note", value: BanCommand.text(detail.note)),
                            JSONMember(name: "lift_note", value: BanCommand.text(detail.liftNote)),
                            JSONMember(name: "entries", value: .array(summary.entries.map(BanCommand.json))),
                        ]))
            }
            let ban = summary.ban
            var rows = [
                ["ban", ban.id.description], ["subject", BanCommand.subject(of: summary)],
                ["scope", ban.scope.rawValue], ["reason", ban.reason.rawValue], ["by", ban.actor],
                ["created", ban.createdAt.rfc3339], ["until", BanCommand.end(ban.endsAt)],
                ["state", ban.state(at: Date()).rawValue],
            ]
            if let lifted = ban.lifted { rows.append(["lifted", "\(lifted.at.rfc3339) by \(lifted.actor)"]) }
            if let note = detail.note { rows.append(["note", note]) }
            if let note = detail.liftNote { rows.append(["lifted because", note]) }
            Output.table(rows)
            Output.table(
                [["KIND", "SUBJECT", "ORIGIN", "UNTIL"]]
                    + summary.entries.map {
                        let (kind, text) = BanCommand.names(of: $0.subject)
                        return [kind, text, $0.origin.word, BanCommand.end($0.endsAt)]
                    })
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists every ban of a subject, past ones too, newest first.")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var subject: BanSubjectOptions

        func run() async throws {
            let target = try subject.required()
            BanCommand.list(
                try await Admin.run(shared) { try await ReadBanHistory($0.context, keys: $0.personalKeys())(target) },
                json: shared.json)
        }
    }

    private static func list(_ summaries: [BanSummary], json: Bool) {
        if json { return Output.json(.array(summaries.map(self.json))) }
        Output.table(
            [["BAN", "SUBJECT", "SCOPE", "REASON", "CREATED", "UNTIL", "STATE"]]
                + summaries.map { summary in
                    let ban = summary.ban
                    return [
                        ban.id.description, subject(of: summary), ban.scope.rawValue, ban.reason.rawValue,
                        ban.createdAt.rfc3339, end(ban.endsAt), ban.state(at: Date()).rawValue,
                    ]
                })
    }

    /// Shows the effect of a ban, or its preview.
    ///
    /// - Parameter ban: `nil` if nothing was changed.
    static func report(_ ban: Ban?, _ impact: BanImpact, json: Bool) {
        if json {
            return Output.json(
                .object([
                    "ban_id": text(ban?.id.description), "dry_run": .bool(ban == nil),
                    "ends_at": text(ban?.endsAt?.rfc3339),
                    "users": .array(
                        impact.users.map {
                            .object(["user_id": .string($0.user.id.description), "address": .string($0.address)])
                        }),
                    "sessions": .integer(Int64(impact.sessions.count)),
                    "devices": .array(impact.devices.map { .string($0.description) }),
                    "authorizations": .integer(Int64(impact.authorizations)),
                    "replaced": .array(impact.replaced.map { .string($0.id.description) }),
                    "holds_number": .bool(impact.holdsNumber), "holds_document": .bool(impact.holdsDocument),
                ]))
        }
        var rows: [[String]] = []
        if let ban { rows += [["ban", ban.id.description], ["until", end(ban.endsAt)]] }
        rows += impact.replaced.map { ["in place of", "\($0.id), until \(end($0.endsAt))"] }
        rows += [
            ["users", counted(impact.users.map { "\($0.address) (\($0.user.id))" })],
            ["sessions", String(impact.sessions.count)],
            ["devices", counted(impact.devices.map(\.description))],
            ["authorizations", impact.authorizationsText],
            ["phone number", impact.holdsNumber ? "held" : "not held"],
            ["document", impact.holdsDocument ? "held" : "not held"],
        ]
        Output.table(rows)
        if ban == nil { Output.note("Nothing was changed.") }
    }

    /// The number of names, and the first of them.
    private static func counted(_ names: [String]) -> String {
        let shown = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : "")
        return names.isEmpty ? "0" : "\(names.count): \(shown)"
    }

    private static func subject(of summary: BanSummary) -> String {
        guard let named = summary.entries.first(where: { $0.origin == .direct }) else {
            return "\(summary.ban.kind.rawValue) erased"
        }
        return "\(summary.ban.kind.rawValue) \(names(of: named.subject).text)"
    }

    /// Numbers and documents are shown by their blind indexes: nothing else of them is stored.
    static func names(of subject: BanEntry.Subject) -> (kind: String, text: String) {
        switch subject {
        case .user(let id): ("user", id.description)
        case .phone(let index): ("phone", index.base64URL)
        case .document(let index): ("document", index.base64URL)
        case .device(let id): ("device", id.description)
        case .deviceKey(let hash): ("device key", hash.base64URL)
        }
    }

    static func end(_ time: Date?) -> String { time?.rfc3339 ?? "permanent" }

    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private static func json(_ summary: BanSummary) -> JSONValue {
        let ban = summary.ban
        let named = summary.entries.first { $0.origin == .direct }
        return .object([
            "ban_id": .string(ban.id.description), "kind": .string(ban.kind.rawValue),
            "subject": text(named.map { names(of: $0.subject).text }), "scope": .string(ban.scope.rawValue),
            "reason": .string(ban.reason.rawValue), "by": .string(ban.actor),
            "created_at": .string(ban.createdAt.rfc3339), "ends_at": text(ban.endsAt?.rfc3339),
            "state": .string(ban.state(at: Date()).rawValue), "lifted_at": text(ban.lifted?.at.rfc3339),
            "lifted_by": text(ban.lifted?.actor),
        ])
    }

    private static func json(_ entry: BanEntry) -> JSONValue {
        let (kind, subject) = names(of: entry.subject)
        return .object([
            "kind": .string(kind.replacing(" ", with: "_")), "subject": .string(subject),
            "origin": .string(entry.origin.word), "ends_at": text(entry.endsAt?.rfc3339),
        ])
    }
}
