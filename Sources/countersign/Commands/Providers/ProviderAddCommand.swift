import ArgumentParser
import Delivery
import Domain
import Encoding
import Foundation
import Operations
import Tokens

/// `countersign provider add`: by a key of its own, or by the URL of an OpenID provider.
struct ProviderAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Registers a provider: by its first key, or by the URL of an OpenID provider.",
        discussion: """
            With --key the provider signs identity tokens of its own. With --issuer and --audience its users sign in by the \
            ID tokens of an OpenID provider, whose keys are read from its discovery document now and again.
            """)
    @OptionGroup var shared: SharedOptions
    @Option(help: "What people call it; the issuer's host by default.") var name: String?
    @Option(help: "The readable part of its users' addresses; derived from the name by default.") var slug: String?
    @Option(help: "The developer's account that owns it.") var account: String?
    @Option(help: "The file of its public key, PEM or JWK.") var key: String?
    @Option(help: "RS256, PS256, ES256, ES384 or EdDSA; by the key's type by default.") var alg: String?
    @Option(help: "The OpenID provider's issuer, an https URL as its ID tokens name it.") var issuer: String?
    @Option(help: "The client id that the OpenID provider gave: the aud of its ID tokens.") var audience: String?
    @Option(help: "An algorithm that the issuer's keys may be used with; may be repeated. All by default.")
    var idTokenAlg: [String] = []
    @Flag(help: "A key that leaves the issuer's key set ends the sessions that it opened.")
    var endSessionsOfRemovedKeys = false
    @Option(help: "A host of its users' pictures; may be repeated.") var avatarHost: [String] = []
    @Option(help: "The algorithm of its sessions' tokens: RS256 or ES256.") var tokenAlg = AccessTokenAlgorithm
        .rs256

    func run() async throws {
        let pairs: KeyValuePairs<String, String>
        switch (key, issuer, audience) {
        case (let key?, nil, nil): pairs = try await addByKey(key)
        case (nil, let issuer?, let audience?): pairs = try await addByIssuer(issuer, audience)
        default: throw CommandFailure("Give --name and --key, or --issuer and --audience.", exitCode: .usage)
        }
        if shared.json {
            Output.json(.object(pairs.map { JSONMember(name: $0.key, value: .string($0.value)) }))
        } else {
            Output.table(pairs.map { [$0.key, $0.value] })
        }
    }

    private func addByKey(_ key: String) async throws -> KeyValuePairs<String, String> {
        guard let name else {
            throw CommandFailure("--name is missing: what people call the provider.", exitCode: .usage)
        }
        guard idTokenAlg.isEmpty, !endSessionsOfRemovedKeys else {
            throw CommandFailure(
                "--id-token-alg and --end-sessions-of-removed-keys go with --issuer.", exitCode: .usage)
        }
        let verificationKey = try ProviderCommand.readKey(key, algorithm: alg)
        let slug = try parsedSlug()
        let made = try await Admin.run(shared, mayCreate: true) {
            try await AddProvider($0.context)(
                name: name, slug: slug, account: account, avatarHosts: avatarHost, key: verificationKey,
                tokenAlgorithm: tokenAlg)
        }
        return [
            "provider_id": made.provider.id.description, "slug": made.provider.slug.text,
            "key_id": made.keyID.description, "app_id": made.applicationID.description,
        ]
    }

    private func addByIssuer(_ url: String, _ audience: String) async throws -> KeyValuePairs<String, String> {
        guard alg == nil else { throw CommandFailure("--alg goes with --key: give --id-token-alg.", exitCode: .usage) }
        let settings = try Settings.resolve(shared: shared)
        let known = SignatureAlgorithm.allCases.map(\.rawValue)
        if let unknown = idTokenAlg.first(where: { !known.contains($0) }) {
            throw CommandFailure(
                "--id-token-alg is one of \(known.joined(separator: ", ")), not \(unknown).", exitCode: .usage)
        }
        let issuer = try ProviderIssuer(
            typed: url, audience: audience, algorithms: idTokenAlg.isEmpty ? known : idTokenAlg,
            endsSessionsOfRemovedKeys: endSessionsOfRemovedKeys, allowingLoopback: settings.allowsLoopbackURLs)
        let slug = try parsedSlug()
        let reader = KeySetReader(DeliveryPolicy(), allowingLoopback: settings.allowsLoopbackURLs)
        let made = try await Admin.run(shared, mayCreate: true) {
            try await AddIssuer($0.context, readKeySet: { await reader($0) })(
                issuer, name: name, slug: slug, account: account, avatarHosts: avatarHost, tokenAlgorithm: tokenAlg)
        }
        return [
            "provider_id": made.provider.id.description, "slug": made.provider.slug.text,
            "app_id": made.applicationID.description, "issuer": issuer.url, "keys": String(made.keyCount),
        ]
    }

    private func parsedSlug() throws(CommandFailure) -> Slug? {
        guard let slug else { return nil }
        guard let parsed = Slug(slug) else {
            throw CommandFailure("A slug has lower-case letters, digits and inner hyphens.", exitCode: .usage)
        }
        return parsed
    }
}

extension ProviderIssuer {
    /// The issuer as an admin sees it.
    func json(_ reading: IssuerReading?) -> JSONValue {
        .object([
            "url": .string(url), "audience": .string(audience),
            "algorithms": .array(algorithms.map { .string($0) }),
            "ends_sessions_of_removed_keys": .bool(endsSessionsOfRemovedKeys),
            "read_at": reading.map { .string($0.readAt.rfc3339) } ?? .null,
            "failure": reading?.failure.map { .string($0) } ?? .null,
        ])
    }
}
