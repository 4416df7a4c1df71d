import ArgumentParser
import Domain
import Encoding
import Operations

struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "List, add and remove client ids of a provider by issuer.",
        subcommands: [List.self, Add.self, Remove.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the client ids of a provider by issuer.",
            example: "provider client list acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            let issuer = try await admin.administration.issuerClients(of: provider)
            let rows = issuer.audiences.map { ["audience", $0] } + issuer.parties.map { ["party", $0] }
            return Report(Report(ClientCommand.members(issuer)).json, tables: [[["ROLE", "CLIENT"]] + rows])
                .noting(issuer.parties.isEmpty ? "Any client may request ID tokens for an audience (azp)." : nil)
        }
    }

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add client ids to a provider by issuer.",
            discussion: "All nodes accept their ID tokens at once. The first --party excludes all other clients.",
            example: "provider client add acme --audience app.acme.example")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @OptionGroup var clients: ClientOptions

        func report(_ admin: Admin) async throws -> Report {
            let clients = try clients.parsed()
            let issuer = try await admin.administration.addIssuerClients(clients, to: provider)
            return Report(clients.lines.map { "\($0) is added." }, json: ClientCommand.members(issuer))
        }
    }

    struct Remove: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove client ids from a provider by issuer.",
            discussion: """
                Their ID tokens are refused by all nodes at once. Sessions that they opened continue. The last audience \
                stays.
                """,
            example: "provider client remove acme --party web --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @OptionGroup var clients: ClientOptions
        @Flag(help: "Remove the last party too, after which any client may request ID tokens.") var anyParty = false
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let clients = try clients.parsed()
            let admin = try admin.administration
            let issuer =
                try await dryRun
                ? admin.previewRemoval(of: clients, from: provider, allowingAnyParty: anyParty)
                : admin.removeIssuerClients(clients, from: provider, allowingAnyParty: anyParty)
            return Report(
                clients.lines.map { "\($0) \(dryRun ? "would be" : "is") removed." },
                json: ClientCommand.members(issuer) + [.json("dry_run", dryRun)]
            ).noting(previewNote(dryRun))
        }
    }

    private static func members(_ issuer: ProviderIssuer) -> [Entry] {
        [.json("issuer", issuer.url), .json("audiences", issuer.audiences), .json("parties", issuer.parties)]
    }
}

/// Client ids by their roles, under the names that `provider add` has for them.
struct ClientOptions: ParsableArguments {
    @Option(help: "A client id that aud of its ID tokens may name; may be repeated.") var audience: [String] = []
    @Option(help: "A client that may request its ID tokens (azp); may be repeated.") var party: [String] = []

    func parsed() throws(CommandFailure) -> ProviderIssuer.Clients {
        guard !audience.isEmpty || !party.isEmpty else {
            throw CommandFailure("Give --audience or --party with a client id.", exitCode: .usage)
        }
        return ProviderIssuer.Clients(audiences: audience, parties: party)
    }
}
