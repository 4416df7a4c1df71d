import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import Tokens

/// `countersign provider …`: the providers, which authenticate users.
struct ProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: "Register providers, their keys, apps and client ids.",
        subcommands: [
            ProviderAddCommand.self, Set.self, List.self, Show.self, Disable.self, Enable.self, KeyCommand.self,
            AppCommand.self, ClientCommand.self, ResourceCommand.self, OriginCommand.self,
            StreamCommand.self,
        ])

    struct Set: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a provider.",
            discussion: "New tokens of its sessions are signed by the new algorithm. Existing tokens stay valid.",
            example: "provider set acme --token-alg ES256")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Option(help: "The algorithm of its sessions' tokens: RS256 or ES256.") var tokenAlg: AccessTokenAlgorithm

        func report(_ admin: Admin) async throws -> Report {
            try await admin.administration.setTokenAlgorithm(tokenAlg, of: provider)
            return Report([Entry("token_alg", "token_alg", tokenAlg.rawValue)])
        }
    }

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the providers.",
            example: "provider list")
        @OptionGroup var shared: SharedOptions

        func report(_ admin: Admin) async throws -> Report {
            let admin = try admin.administration
            let (providers, readings) = (try await admin.listProviders(), try await admin.issuerReadings())
            var report = Report(providers, ProviderCommand.fields(readings))
            for issuer in Swift.Set(providers.compactMap(\.issuer?.url)).sorted() {
                report = report.noting(readings[issuer]?.failure.map { "\(issuer) cannot be read: \($0)." })
            }
            return report
        }
    }

    struct Disable: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disable a provider: its tokens, keys and sessions are refused.",
            discussion: "It asks first, since the sessions of all its users end. In scripts add --yes.",
            example: "provider disable acme --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @OptionGroup var why: ReasonOption
        @Option(help: "The reason to disable at once, without a second administrator: a code or a ticket's number.")
        var emergency: String?
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func report(_ admin: Admin) async throws -> Report {
            let reason = try why.parsed()
            let urgency = try emergency.map { text throws(CommandFailure) in try auditReason(text, "--emergency") }
            let admin = try admin.administration
            if !dryRun, !yes {
                let ended = try await admin.previewDisabling(provider).sessions
                try Confirmation.ask("disable \(provider) and end \(ended.sessions)")
            }
            let ended =
                try await dryRun
                ? admin.previewDisabling(provider).sessions
                : admin.disableProvider(provider, reason: reason, urgency: urgency)
            return Report(
                dryRun
                    ? "\(provider) would be disabled; \(ended.sessions) would end."
                    : "\(provider) is disabled; \(ended.sessions) ended.",
                json: [.json("disabled", dryRun ? nil : provider), .json("dry_run", dryRun)] + ended.entries
            ).noting(previewNote(dryRun))
        }
    }

    struct Enable: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enable a provider again; ended sessions stay ended.",
            example: "provider enable acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            try await admin.administration.enableProvider(provider)
            return Report("\(provider) is enabled.", json: [.json("enabled", provider)])
        }
    }

    private static func fields(_ readings: [String: IssuerReading]) -> [Field<Provider>] {
        [
            .json("provider_id") { $0.id }, Field("slug", column: "SLUG") { $0.slug.text },
            .people(column: "ID") { $0.id },
            Field("name", column: "NAME") { $0.name }, .json("account") { $0.account },
            .json("token_alg") { $0.tokenAlgorithm.rawValue },
            .people(column: "STATE") { $0.disabledAt == nil ? "enabled" : "disabled" },
            Field("issuer", column: "ISSUER") { provider in
                provider.issuer.map { cell(of: $0, readings[$0.url]) }
            },
            .json("disabled_at") { $0.disabledAt },
        ]
    }

    private static func cell(of issuer: ProviderIssuer, _ reading: IssuerReading?) -> ReportCell {
        let report = Report([
            .json("url", issuer.url), .json("audience", issuer.audience), .json("audiences", issuer.audiences),
            .json("parties", issuer.parties), .json("algorithms", issuer.algorithms),
            .json("ends_sessions_of_removed_keys", issuer.endsSessionsOfRemovedKeys),
            .json("read_at", reading?.readAt), .json("failure", reading?.failure),
        ])
        return ReportCell(report.json, issuer.url)
    }

    /// Reads and parses a public key file.
    static func readKey(_ path: String, algorithm: SignatureAlgorithm?) throws -> VerificationKey {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure("The key file \(path) cannot be read. Give the path of a public key, PEM or JWK.")
        }
        return try VerificationKey(text: text, algorithm: algorithm)
    }
}

struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "List and add apps of a provider.",
        subcommands: [List.self, Add.self, AttestCommand.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the apps of a provider.",
            example: "provider app list acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            let apps = try await admin.administration.readProvider(provider).applications
            return Report(apps, AppCommand.fields)
        }
    }

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an app to a provider.",
            example: "provider app add acme --name \"Acme for tablets\"")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Option(help: "The app's name for people.") var name: String

        func report(_ admin: Admin) async throws -> Report {
            let application = try await admin.administration.addApplication(name, to: provider)
            return Report([Entry("app_id", "app_id", application.id)])
        }
    }

    static var fields: [Field<Application>] {
        [Field("app_id", column: "APP") { $0.id }, Field("name", column: "NAME") { $0.name }]
    }
}
