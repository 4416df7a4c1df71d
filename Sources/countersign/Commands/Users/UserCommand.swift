import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign user …`: the users and the data stored about them.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Show, export, archive, challenge and erase users, and end their sessions.",
        subcommands: [
            List.self, Find.self, Show.self, History.self, Apps.self, AllowApp.self, Export.self, Archive.self,
            Challenge.self, EndSessions.self,
            Erase.self,
        ])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the newest users, without personal data.",
            example: "user list --limit 10")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func report(_ admin: Admin) async throws -> Report {
            page.report(
                try await admin.administrationWithKeys().listUsers(limit: page.limit, after: page.cursor),
                UserCommand.fields)
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a user, with ban, sessions, devices, cards and last use.",
            discussion: "--reveal shows personal data, which is recorded in the audit log.",
            example: "user show acme/ada")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "The reason to show personal data too: a code or a ticket's number.") var reveal: String?

        func report(_ admin: Admin) async throws -> Report {
            if let reveal {
                let reason = try auditReason(reveal, "--reveal")
                return UserCommand.report(
                    try await admin.administration.exportUser(user, reason: reason).json)
            }
            return Report(try await admin.administrationWithKeys().readUserDetail(user), UserCommand.detail)
        }
    }

    struct Export: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write all stored data of a user as JSON.",
            discussion: "The access is recorded in the audit log.",
            example: "user export acme/ada --reason ticket:4711")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "The reason: a code or a ticket's number, kept in the audit log.") var reason: String

        func report(_ admin: Admin) async throws -> Report {
            let reason = try auditReason(reason)
            let export = try await admin.administration.exportUser(user, reason: reason)
            return Report(json: export.json)
        }
    }

    struct Challenge: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Challenge every session of a user: the user must prove the identity again.",
            example: "user challenge acme/ada")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @OptionGroup var why: ReasonOption
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let reason = try why.parsed()
            let id = try await admin.administrationWithKeys().readUser(user).user.id.description
            let challenged =
                try await dryRun
                ? admin.administration.listSessions(limit: .max, .user(id)).count { $0.state == .authenticated }
                : admin.administration.challengeUser(id, reason: reason)
            let entries = [Entry("user_id", id), Entry("sessions_challenged", challenged)]
            return Report(entries + (dryRun ? [.json("dry_run", true)] : [])).noting(previewNote(dryRun))
        }
    }

    struct Erase: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase a user: sessions end, data and their key are destroyed. It cannot be undone.",
            example: "user erase acme/ada --reason user_request --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "The reason: a code or a ticket's number, kept in the audit log.") var reason: String
        @Flag(help: "Erase the user; without this flag only show the address.") var yes = false
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func report(_ admin: Admin) async throws -> Report {
            let reason = try auditReason(reason)
            let summary = try await admin.administrationWithKeys().readUser(user)
            guard !dryRun else {
                return Report(summary, UserCommand.fields).noting(
                    previewNote(dryRun, "this user would be erased for good"))
            }
            let id = summary.user.id.description
            guard yes else {
                throw CommandFailure("This would erase \(summary.address) (\(id)) for good: add --yes.")
            }
            let receipt = try await admin.administration.eraseUser(id, reason: reason)
            return Report([
                Entry("user_id", id), Entry("erased", ReportCell(.bool(true), "true")),
                Entry("receipt", receipt.uuidString.lowercased()),
            ])
        }
    }

    static var fields: [Field<UserSummary>] {
        [
            Field("user_id", column: "USER") { $0.user.id }, Field("address", column: "ADDRESS") { $0.address },
            Field("provider_id") { $0.user.providerID },
            Field("assurance", column: "LEVEL") { $0.user.assurance.rawValue },
            Field("created_at", column: "FIRST SEEN") { $0.user.createdAt },
        ]
    }

    /// One user, without personal data.
    private static var detail: [Field<Administration.UserDetail>] {
        let own: [Field<Administration.UserDetail>] = [
            Field("ban") { ban(of: $0) }, Field("open_sessions") { $0.sessions.count }, Field("devices") { $0.devices },
            Field("cards", none: "none") { cards(of: $0) }, Field("phone_verified_at") { $0.phoneVerifiedAt },
            Field("identity_verified_at") { $0.identityVerifiedAt },
            Field("last_used_at", "last used") { $0.lastUsedAt },
            .jsonIfPresent("suspended") { $0.suspended?.rawValue }, .jsonIfPresent("erased_at") { $0.erasedAt },
        ]
        return fields.map { $0.of(\.summary) } + own
    }

    private static func ban(of user: Administration.UserDetail) -> ReportCell? {
        guard let ban = user.ban else { return nil }
        let end = ban.endsAt.map { "until \($0.rfc3339)" } ?? "without an end"
        let members: JSONValue = .object([
            "ban_id": .string(ban.id.description), "scope": .string(ban.scope.rawValue),
            "reason": .string(ban.reason.rawValue), "ends_at": ban.endsAt.map { .string($0.rfc3339) } ?? .null,
        ])
        return ReportCell(members, "\(ban.id) of \(ban.scope.rawValue), \(ban.reason.rawValue), \(end)")
    }

    private static func cards(of user: Administration.UserDetail) -> ReportCell {
        .counts(CardStatus.allCases.compactMap { status in user.cards[status].map { (status.rawValue, $0) } })
    }

    /// An export as people read it: a list becomes the ids and states of its elements.
    private static func report(_ export: JSONValue) -> Report {
        guard case .object(let members) = export else { return Report(json: export) }
        return Report(
            members.map { member in
                let text: String? =
                    switch member.value {
                    case .null: nil
                    case .array(let values):
                        values.map { [$0["id"]?.text, $0["status"]?.text].compactMap(\.self).joined(separator: " ") }
                            .joined(separator: ", ")
                    default: member.value.text ?? member.value.jsonText
                    }
                return Entry(member.name, ReportCell(member.value, text), none: "")
            })
    }
}
