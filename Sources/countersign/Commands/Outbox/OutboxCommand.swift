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
        static let configuration = CommandConfiguration(abstract: "List the newest messages.")
        @OptionGroup var shared: SharedOptions
        @Option(help: "The state of the messages.") var state: OutboxState?
        @OptionGroup var page: PageOptions

        func report(_ admin: Admin) async throws -> Report {
            page.report(
                try await admin.administration.listOutbox(state, limit: page.limit, after: page.cursor),
                OutboxCommand.fields)
        }
    }

    struct Retry: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Requeue a dead message with all its tries; the service sends it within 30 seconds.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The message's id.") var message: OutboxMessageID

        func report(_ admin: Admin) async throws -> Report {
            Report(
                try await admin.administration.retryMessage(message), OutboxCommand.fields)
        }
    }

    struct Drop: AdminCommand {
        static let configuration = CommandConfiguration(abstract: "Drop a message that is waiting or dead.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The message's id.") var message: OutboxMessageID
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func report(_ admin: Admin) async throws -> Report {
            let message =
                try await dryRun
                ? admin.administration.previewDrop(of: message) : admin.administration.dropMessage(message)
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
