import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign texts …`: scopes that the breaker limits because too few codes are submitted.
struct TextsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Shows where texts are thinned out because too few codes come back, and ends it.",
        subcommands: [List.self, Lift.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the prefixes, providers and countries whose texts are thinned out.",
            discussion: """
                A prefix is named by its country and a keyed digest. A provider is named by its id, the country and the \
                age of the accounts, new or settled.
                """)
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            let thinned = try await Admin.run(shared) {
                try await ListThinnedTexts($0.context)(limit: page.limit, after: page.cursor)
            }
            page.noteRest(thinned.count, last: thinned.last.map { "\"\($0.name)\"" })
            if shared.json {
                Output.json(
                    .array(
                        thinned.map {
                            .object(["name": .string($0.name), "ends_at": .string($0.endsAt.rfc3339)])
                        }))
            } else {
                Output.table([["THINNED OUT", "UNTIL"]] + thinned.map { [$0.name, $0.endsAt.rfc3339] })
            }
        }
    }

    struct Lift: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends the thinning out; failures are counted from zero.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its name as the list has it, in quotes.") var name: String
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?

        func run() async throws {
            let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
            try await Admin.run(shared) { try await ResumeTexts($0.context)(name, reason: reason) }
            if shared.json {
                Output.json(.object(["lifted": .string(name)]))
            } else {
                Output.table([["\(name) is thinned out no more."]])
            }
        }
    }
}
