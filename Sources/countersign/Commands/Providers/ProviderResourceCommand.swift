import ArgumentParser
import Domain
import Encoding
import Operations

struct ResourceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resource",
        abstract: "List, add and remove the URLs by which devices may name a provider.",
        subcommands: [List.self, Add.self, Remove.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the URLs of a provider.",
            example: "provider resource list acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            let urls = try await admin.administration.listResources(of: provider).map(
                \.url.text)
            return Report(urls.cell.json, tables: [[["URL"]] + urls.map { [$0] }])
        }
    }

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a URL to a provider.",
            discussion:
                "A device names it as `resource` or `audience` (RFC 8707); the token's `aud` is then this text.",
            example: "provider resource add acme https://api.acme.example/v1")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Argument(help: "An https URL without a query.") var url: String

        func report(_ admin: Admin) async throws -> Report {
            let url = try ResourceCommand.read(url)
            let own = [admin.settings.baseURL, admin.settings.clientURL].compactMap(\.self)
            try await admin.administration.addResource(url, to: provider, own: own)
            return Report("\(url.text) is added.", json: [.json("added", url.text)])
        }
    }

    struct Remove: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a URL: no more tokens are issued for it.",
            example: "provider resource remove https://api.acme.example/v1")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The URL.") var url: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let url = try ResourceCommand.read(url)
            let admin = try admin.administration
            try await dryRun ? admin.previewRemoval(of: url) : admin.removeResource(url)
            return Report(
                "\(url.text) \(dryRun ? "would be" : "is") removed.",
                json: [.json("removed", dryRun ? nil : url.text), .json("dry_run", dryRun)]
            ).noting(previewNote(dryRun))
        }
    }

    private static func read(_ text: String) throws(CommandFailure) -> ResourceURL {
        guard let url = ResourceURL(text) else {
            throw CommandFailure(
                "The URL must be https, or http on this machine, without user info, query and fragment.",
                exitCode: .usage)
        }
        return url
    }
}
