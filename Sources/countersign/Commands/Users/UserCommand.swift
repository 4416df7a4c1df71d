import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign user …`: the users and the data stored about them.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Shows, exports, archives, challenges and erases users.",
        subcommands: [List.self, Find.self, Show.self, Export.self, Archive.self, Challenge.self, Erase.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest users, without personal data.")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            let summaries = try await Admin.run(shared) {
                try await ReadUsers($0.contextWithPersonalKeys())(limit: page.limit, after: page.cursor)
            }
            page.noteRest(summaries.count, last: summaries.last?.user.id.description)
            if shared.json {
                Output.json(.array(summaries.map(UserCommand.json)))
            } else {
                Output.table([["USER", "ADDRESS", "LEVEL", "FIRST SEEN"]] + summaries.map(UserCommand.row))
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a user. Personal data only with --reveal, which is written into the audit log.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "Show personal data too, and say why by a code or a ticket's number.") var reveal: String?

        func run() async throws {
            if let reveal {
                let reason = try auditReason(reveal, "--reveal")
                let export = try await Admin.run(shared) {
                    try await ExportUser($0.context, keys: $0.personalKeys())(user, reason: reason)
                }
                return UserCommand.show(export.json, json: shared.json)
            }
            let summary = try await Admin.run(shared) { try await ReadUsers($0.contextWithPersonalKeys())(user) }
            UserCommand.show(UserCommand.json(summary), json: shared.json)
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes all stored data of a user as JSON. The access is written into the audit log.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String

        func run() async throws {
            let reason = try auditReason(reason)
            Output.json(
                try await Admin.run(shared) {
                    try await ExportUser($0.context, keys: $0.personalKeys())(user, reason: reason)
                }.json)
        }
    }

    struct Challenge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Challenges every session of a user: they must prove who they are again.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func run() async throws {
            let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
            let (id, challenged) = try await Admin.run(shared) { admin in
                let id = try await ReadUsers(admin.contextWithPersonalKeys())(user).user.id.description
                guard !dryRun else {
                    let open = try await ListOpenSessions(admin.context)(limit: .max, .user(id))
                    return (id, open.count { $0.state == .authenticated })
                }
                return (id, try await ChallengeUser(admin.context)(id, reason: reason))
            }
            UserCommand.show(
                .object([
                    "user_id": .string(id), "sessions_challenged": .integer(Int64(challenged)),
                    "dry_run": dryRun ? .bool(true) : nil,
                ]), json: shared.json)
            if dryRun { Output.note("Nothing was changed.") }
        }
    }

    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erases a user: sessions end, data and their key are destroyed. It cannot be undone.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String
        @Flag(help: "Do it; without this, only say who would be erased.") var yes = false
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func run() async throws {
            let reason = try auditReason(reason)
            let summary = try await Admin.run(shared) { try await ReadUsers($0.contextWithPersonalKeys())(user) }
            guard !dryRun else {
                UserCommand.show(UserCommand.json(summary), json: shared.json)
                return Output.note("Nothing was changed: this user would be erased for good.")
            }
            guard yes else {
                throw CommandFailure("This would erase \(summary.address) (\(summary.user.id)) for good: add --yes.")
            }
            let id = summary.user.id.description
            let receipt = try await Admin.run(shared) {
                try await EraseNamedUser($0.context, keys: $0.personalKeys())(id, reason: reason)
            }
            UserCommand.show(
                .object([
                    "user_id": .string(id), "erased": .bool(true), "receipt": .string(receipt.uuidString.lowercased()),
                ]), json: shared.json)
        }
    }

    static func row(_ summary: UserSummary) -> [String] {
        [
            summary.user.id.description, summary.address, summary.user.assurance.rawValue,
            summary.user.createdAt.rfc3339,
        ]
    }

    static func json(_ summary: UserSummary) -> JSONValue {
        .object([
            "user_id": .string(summary.user.id.description), "address": .string(summary.address),
            "provider_id": .string(summary.user.providerID.description),
            "assurance": .string(summary.user.assurance.rawValue),
            "created_at": .string(summary.user.createdAt.rfc3339),
        ])
    }

    private static func show(_ value: JSONValue, json: Bool) {
        guard !json, case .object(let members) = value else { return Output.json(value) }
        Output.table(members.map { [$0.name.replacing("_", with: " "), text($0.value)] })
    }

    /// A value for people; a list becomes the names and states of its elements.
    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .array(let values):
            values.map { [$0["id"]?.text, $0["status"]?.text].compactMap(\.self).joined(separator: " ") }
                .joined(separator: ", ")
        default: value.text ?? value.jsonText
        }
    }
}
