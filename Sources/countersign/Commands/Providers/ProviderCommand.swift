import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import Tokens

/// `countersign provider …`: who may vouch for users.
struct ProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: "Registers providers, their keys and their apps.",
        subcommands: [
            ProviderAddCommand.self, Set.self, List.self, Show.self, Disable.self, Enable.self, KeyCommand.self,
            AppCommand.self,
            ResourceCommand.self, StreamCommand.self,
        ])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Changes a provider.",
            discussion: "Its sessions' tokens are signed by the new algorithm from now on; those that exist stay valid."
        )
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its slug or id.") var provider: String
        @Option(help: "The algorithm of its sessions' tokens: RS256 or ES256.") var tokenAlg: AccessTokenAlgorithm

        func run() async throws {
            try await Admin.run(shared) { try await SetTokenAlgorithm($0.context)(tokenAlg, of: provider) }
            if shared.json {
                Output.json(.object(["token_alg": .string(tokenAlg.rawValue)]))
            } else {
                Output.table([["token_alg", tokenAlg.rawValue]])
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the providers.")
        @OptionGroup var shared: SharedOptions

        func run() async throws {
            let (providers, readings) = try await Admin.run(shared) { admin in
                let read = ReadProviders(admin.context)
                return (try await read(), try await read.issuerReadings())
            }
            if shared.json {
                Output.json(
                    .array(
                        providers.map {
                            .object([
                                "provider_id": .string($0.id.description), "slug": .string($0.slug.text),
                                "name": .string($0.name), "account": $0.account.map { .string($0) } ?? .null,
                                "token_alg": .string($0.tokenAlgorithm.rawValue),
                                "issuer": $0.issuer.map { $0.json(readings[$0.url]) } ?? .null,
                                "disabled_at": $0.disabledAt.map { .string($0.rfc3339) } ?? .null,
                            ])
                        }))
            } else {
                Output.table(
                    [["SLUG", "ID", "NAME", "STATE", "ISSUER"]]
                        + providers.map {
                            [
                                $0.slug.text, $0.id.description, $0.name,
                                $0.disabledAt == nil ? "enabled" : "disabled", $0.issuer?.url ?? "-",
                            ]
                        })
                for issuer in Swift.Set(providers.compactMap(\.issuer?.url)).sorted() {
                    if let failure = readings[issuer]?.failure { Output.note("\(issuer) cannot be read: \(failure).") }
                }
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disables a provider: its tokens, keys and sessions are refused.",
            discussion: "It asks first, since every user of the provider loses the session. Scripts give --yes.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its slug or id.") var provider: String
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func run() async throws {
            let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
            let ended = try await Admin.run(shared) { admin in
                let disable = DisableProvider(admin.context)
                if yes, !dryRun { return try await disable(provider, reason: reason) }
                let foreseen = try await disable.preview(provider)
                if dryRun { return foreseen }
                try Confirmation.ask("disable \(provider) and end \(foreseen.text) sessions")
                return try await disable(provider, reason: reason)
            }
            if shared.json {
                return Output.json(
                    .object([
                        "disabled": dryRun ? .null : .string(provider), "dry_run": .bool(dryRun),
                        "sessions_ended": ended.json,
                    ]))
            }
            guard dryRun else { return Output.table([["\(provider) is disabled; \(ended.text) sessions ended."]]) }
            Output.table([["\(provider) would be disabled; \(ended.text) sessions would end."]])
            Output.note("Nothing was changed.")
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enables a provider again; ended sessions stay ended.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its slug or id.") var provider: String

        func run() async throws {
            try await Admin.run(shared) { try await EnableProvider($0.context)(provider) }
            if shared.json {
                Output.json(.object(["enabled": .string(provider)]))
            } else {
                Output.table([["\(provider) is enabled."]])
            }
        }
    }

    /// Reads and parses a public key file.
    static func readKey(_ path: String, algorithm: String?) throws -> VerificationKey {
        let named = try algorithm.map { name throws(CommandFailure) in
            guard let known = SignatureAlgorithm(rawValue: name) else {
                let names = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("--alg is one of \(names).", exitCode: .usage)
            }
            return known
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure("The key file \(path) cannot be read.")
        }
        return try VerificationKey(text: text, algorithm: named)
    }
}

extension AccessTokenAlgorithm: ExpressibleByArgument {}

/// `countersign provider app …`.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Lists the apps of a provider, and adds some.",
        subcommands: [List.self, Add.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the apps of a provider.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func run() async throws {
            let (_, apps, _) = try await Admin.run(shared) { try await ReadProviders($0.context)(provider) }
            if shared.json {
                Output.json(
                    .array(apps.map { .object(["app_id": .string($0.id.description), "name": .string($0.name)]) }))
            } else {
                Output.table([["APP", "NAME"]] + apps.map { [$0.id.description, $0.name] })
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Adds an app to a provider.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Option(help: "What people call it.") var name: String

        func run() async throws {
            let application = try await Admin.run(shared) {
                try await AddApplication($0.context)(name, to: provider)
            }
            if shared.json {
                Output.json(.object(["app_id": .string(application.id.description)]))
            } else {
                Output.table([["app_id", application.id.description]])
            }
        }
    }
}
