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
        abstract: "Show where texts are limited because too few codes are submitted, and end the limits.",
        subcommands: [List.self, Lift.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the prefixes, providers and countries whose texts are limited.",
            discussion: """
                A prefix is named by its country and a keyed digest. A provider is named by its id, the country and \
                the age of the accounts, new or settled.
                """,
            example: "texts list")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func report(_ admin: Admin) async throws -> Report {
            page.report(
                try await admin.administration.listThinnedTexts(limit: page.limit, after: page.cursor),
                [Field("name", column: "LIMITED") { $0.name }, Field("ends_at", column: "UNTIL") { $0.endsAt }])
        }
    }

    struct Lift: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the limit on texts; failures are counted from zero.",
            example: "texts lift \"country US\" --reason ticket:4711")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The name from the list, in quotes.") var name: String
        @OptionGroup var why: ReasonOption

        func report(_ admin: Admin) async throws -> Report {
            let reason = try why.parsed()
            try await admin.administration.resumeTexts(name, reason: reason)
            return Report("Texts to \(name) are no longer limited.", json: [.json("lifted", name)])
        }
    }
}
