import ArgumentParser
import Domain
import Encoding
import Operations

/// `countersign provider resource …`.
struct ResourceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resource",
        abstract: "Lists, adds and removes the URLs by which devices may name a provider.",
        subcommands: [List.self, Add.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the URLs of a provider.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func run() async throws {
            let found = try await Admin.run(shared) { try await ListResources($0.context)(of: provider) }
            if shared.json {
                Output.json(.array(found.map { .string($0.url.text) }))
            } else {
                Output.table([["URL"]] + found.map { [$0.url.text] })
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds a URL to a provider.",
            discussion: "A device names it as `resource` or `audience` (RFC 8707); the token's `aud` is then this text."
        )
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Argument(help: "An https URL without a query.") var url: String

        func run() async throws {
            let url = try ResourceCommand.read(url)
            let settings = try Settings.resolve(shared: shared)
            let own = [settings.baseURL, settings.clientURL].compactMap(\.self)
            try await Admin.run(shared) { try await AddResource($0.context)(url, to: provider, own: own) }
            if shared.json {
                Output.json(.object(["added": .string(url.text)]))
            } else {
                Output.table([["\(url.text) is added."]])
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes a URL: no token is made for it any more.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The URL.") var url: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func run() async throws {
            let url = try ResourceCommand.read(url)
            try await Admin.run(shared) { admin in
                let remove = RemoveResource(admin.context)
                try await dryRun ? remove.preview(url) : remove(url)
            }
            if shared.json {
                return Output.json(
                    .object(["removed": dryRun ? .null : .string(url.text), "dry_run": .bool(dryRun)]))
            }
            Output.table([["\(url.text) \(dryRun ? "would be" : "is") removed."]])
            if dryRun { Output.note("Nothing was changed.") }
        }
    }

    private static func read(_ text: String) throws(CommandFailure) -> ResourceURL {
        guard let url = ResourceURL(text) else {
            throw CommandFailure(
                "The URL is https, or http on this machine, without a user, a query and a fragment.", exitCode: .usage)
        }
        return url
    }
}
