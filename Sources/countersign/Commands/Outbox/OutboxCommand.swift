import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign outbox …`: messages that wait to be sent, and dead letters.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Shows, requeues and drops messages.",
        subcommands: [List.self, Retry.self, Drop.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest messages.")
        @OptionGroup var shared: SharedOptions
        @Option(help: "Only those that are waiting, sent, expired, dead or dropped.") var state: String?
        @OptionGroup var page: PageOptions

        func run() async throws {
            let wanted = try state.map { word throws(CommandFailure) in
                guard let state = OutboxState(rawValue: word) else {
                    let words = OutboxState.allCases.map(\.rawValue).joined(separator: ", ")
                    throw CommandFailure("--state takes one of \(words).", exitCode: .usage)
                }
                return state
            }
            let messages = try await Admin.run(shared) {
                try await ListOutbox($0.context)(wanted, limit: page.limit, after: page.cursor)
            }
            page.noteRest(messages.count, last: messages.last?.id.description)
            if shared.json {
                Output.json(.array(messages.map(OutboxCommand.json)))
            } else {
                Output.table(
                    [["MESSAGE", "KIND", "CREATED", "DUE", "TRIES", "STATE", "REASON"]]
                        + messages.map {
                            [
                                $0.id.description, $0.kind.rawValue, $0.createdAt.rfc3339, $0.dueAt.rfc3339,
                                String($0.tries), $0.state.rawValue, $0.reason ?? "",
                            ]
                        })
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Requeues a dead message with all its tries; the service sends it within 30 seconds.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var message: String

        func run() async throws {
            let id: OutboxMessageID = try identifier(message, "message")
            OutboxCommand.show(
                try await Admin.run(shared) { try await RetryMessage($0.context)(id) }, json: shared.json)
        }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Drops a message that waits or is dead.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var message: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func run() async throws {
            let id: OutboxMessageID = try identifier(message, "message")
            let shown = try await Admin.run(shared) { admin in
                let drop = DropMessage(admin.context)
                return try await dryRun ? drop.preview(id) : drop(id)
            }
            OutboxCommand.show(shown, json: shared.json)
            if dryRun { Output.note("Nothing was changed: this message would be dropped.") }
        }
    }

    static func show(_ message: OutboxMessage, json: Bool) {
        if json { return Output.json(self.json(message)) }
        Output.table([
            ["message", message.id.description], ["kind", message.kind.rawValue], ["subject", message.subject],
            ["user", message.userID.description], ["created", message.createdAt.rfc3339],
            ["expires", message.expiresAt.rfc3339], ["due", message.dueAt.rfc3339], ["tries", String(message.tries)],
            ["state", message.state.rawValue], ["reason", message.reason ?? ""],
        ])
    }

    static func json(_ message: OutboxMessage) -> JSONValue {
        .object([
            "id": .string(message.id.description), "kind": .string(message.kind.rawValue),
            "subject": .string(message.subject), "user_id": .string(message.userID.description),
            "created_at": .string(message.createdAt.rfc3339), "expires_at": .string(message.expiresAt.rfc3339),
            "due_at": .string(message.dueAt.rfc3339), "tries": .integer(Int64(message.tries)),
            "state": .string(message.state.rawValue), "reason": message.reason.map { .string($0) } ?? .null,
        ])
    }
}
