import ArgumentParser
import Domain
import Encoding
import Operations

struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin",
        abstract: "List, add and remove the pages and apps that call wallets, and the links to which wallets return.",
        subcommands: [List.self, Add.self, Remove.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the origins of a provider's apps.",
            example: "provider origin list acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            Report(
                try await admin.administration.listOrigins(of: provider),
                [
                    Field("origin", column: "ORIGIN") { $0.origin.text },
                    Field("app_id", column: "APP") { $0.applicationID },
                ])
        }
    }

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an origin to the apps of a provider.",
            discussion: """
                A wallet shows it to its user, and answers no other caller. With a path it is a link to which a wallet on \
                the same device returns. The platform must open it in the app alone.
                """,
            example: "provider origin add acme https://app.acme.example")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Argument(help: "https:// with a host and perhaps a path, or android:apk-key-hash: with a digest.")
        var origin: String
        @Option(help: "The only app that gets it, by its id or its beginning.") var app: TypedID<Kind.Application>?

        func report(_ admin: Admin) async throws -> Report {
            let origin = try OriginCommand.read(origin)
            try await withUsageErrors { try await admin.administration.addOrigin(origin, to: provider, app: app) }
            return Report("\(origin.text) is added.", json: [.json("added", origin.text)])
        }
    }

    struct Remove: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an origin from all apps of a provider.",
            example: "provider origin remove acme https://app.acme.example")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Argument(help: "The origin.") var origin: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let origin = try OriginCommand.read(origin)
            let admin = try admin.administration
            try await dryRun
                ? admin.previewRemoval(of: origin, of: provider) : admin.removeOrigin(origin, of: provider)
            return Report(
                "\(origin.text) \(dryRun ? "would be" : "is") removed.",
                json: [.json("removed", dryRun ? nil : origin.text), .json("dry_run", dryRun)]
            ).noting(previewNote(dryRun))
        }
    }

    private static func read(_ text: String) throws(CommandFailure) -> WalletOrigin {
        guard let origin = WalletOrigin(text) else {
            throw CommandFailure("\(text) is not an origin. \(objection(to: text))", exitCode: .usage)
        }
        return origin
    }

    /// The rule that a text breaks.
    private static func objection(to text: String) -> String {
        let android = "android:apk-key-hash:"
        if text.utf8.starts(with: "android:".utf8) {
            return "That of an app is \(android) and the SHA-256 of its certificate, 32 bytes in base64url."
        }
        guard text.utf8.starts(with: "https://".utf8) else {
            return "It must begin with https:// in lower case, or with \(android) for an app."
        }
        if let objection = URLObjection.characters(of: text) { return objection }
        guard let url = ServiceURL(text) else { return "Its host or port is malformed." }
        guard url.query.isEmpty else { return "It has a query. Remove it from ? on." }
        let written = url.path.utf8.elementsEqual("/".utf8) ? String(url.description.dropLast()) : url.description
        return "Browsers write it as \(written)."
    }
}
