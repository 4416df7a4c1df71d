import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign outbox …`: messages that wait to be sent, and dead letters.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Show, requeue and drop messages.",
        subcommands: [List.self, Retry.self, Drop.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the newest messages.",
            example: "outbox list --state dead --user acme/ada")
        @OptionGroup var shared: SharedOptions
        @Option(help: "The state of the messages.") var state: OutboxMessage.State?
        @Option(help: "The user that the messages are about: the id, or <provider slug>/<external id>.")
        var user: String?
        @OptionGroup var page: PageOptions

        func report(_ admin: Admin) async throws -> Report {
            page.report(
                try await admin.administration.listOutbox(state, of: user, limit: page.limit, after: page.cursor),
                OutboxCommand.fields)
        }
    }

    struct Retry: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Requeue a dead message, or all of them, with all tries; they are sent within 30 seconds.",
            discussion: """
                --dead requeues every dead message that has not expired. It asks first if there are several. In scripts \
                add --yes.
                """,
            example: "outbox retry --dead --user acme/ada")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The message's id or its beginning, unless --dead is given.")
        var message: TypedID<Kind.OutboxMessage>?
        @Flag(help: "Requeue all dead messages that have not expired.") var dead = false
        @Option(help: "With --dead: only messages about this user, by the id or <provider slug>/<external id>.")
        var user: String?
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func validate() throws {
            guard dead != (message != nil) else { throw ValidationError("Give a message's id, or --dead.") }
            guard user == nil || dead else { throw ValidationError("--user requires --dead.") }
        }

        func report(_ admin: Admin) async throws -> Report {
            let administration = try admin.administration
            if let message {
                let id = try await admin.resolve(message)
                let found =
                    try await dryRun ? administration.previewRetry(of: id) : administration.retryMessage(id)
                return Report(found, OutboxCommand.fields).noting(
                    previewNote(dryRun, "this message would be requeued"))
            }
            let count = try await administration.previewRetry(of: user)
            if !dryRun, !yes, count > 1 { try Confirmation.ask("requeue \(BoundedCount.text(count, "message"))") }
            let retried = try await dryRun ? count : administration.retryDeadMessages(of: user)
            return Report(
                dryRun
                    ? "\(BoundedCount.text(retried, "message")) would be requeued."
                    : "Requeued \(retried.counting("message")).",
                json: [.json("retried", retried), .json("dry_run", dryRun)]
            ).noting(previewNote(dryRun))
        }
    }

    struct Drop: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drop a message that is waiting or dead.",
            example: "outbox drop 91e3d7f0 --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The message's id or its beginning.") var message: TypedID<Kind.OutboxMessage>
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let id = try await admin.resolve(message)
            let message =
                try await dryRun
                ? admin.administration.previewDrop(of: id) : admin.administration.dropMessage(id)
            return Report(message, OutboxCommand.fields).noting(
                previewNote(dryRun, "this message would be dropped"))
        }
    }

    private static var fields: [Field<OutboxMessage>] {
        [
            Field("id", "message", column: "MESSAGE") { $0.id },
            Field("kind", column: "KIND") { $0.kind.rawValue }, Field("subject") { $0.subject },
            Field("user_id", "user") { $0.userID }, Field("created_at", "created", column: "CREATED") { $0.createdAt },
            Field("expires_at", "expires") { $0.expiresAt }, Field("due_at", "due", column: "DUE") { $0.dueAt },
            Field("tries", column: "TRIES") { $0.tries }, Field("state", column: "STATE") { $0.state.rawValue },
            Field("reason", column: "REASON", none: "") { $0.reason },
        ]
    }
}
