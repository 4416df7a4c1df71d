import ArgumentParser
import Delivery
import Domain
import Encoding
import Foundation
import Operations
import Tokens

/// `countersign provider add`: by a key of its own, or by the URL of an OpenID provider.
struct ProviderAddCommand: InstallationCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Register a provider: by its first key, or by the URL of an OpenID provider.",
        discussion: """
            With --key the provider signs its own identity tokens. With --issuer and --audience its users sign in with \
            the ID tokens of an OpenID provider. The service reads that provider's keys from its discovery document \
            regularly.
            """)
    @OptionGroup var shared: SharedOptions
    @Option(help: "The name for people; the issuer's host by default.") var name: String?
    @Option(help: "The readable part of its users' addresses; derived from the name by default.") var slug: String?
    @Option(help: "The developer's account that owns it.") var account: String?
    @Option(help: "The file of its public key, PEM or JWK.") var key: String?
    @Option(help: "The key's algorithm; by its type by default.") var alg: SignatureAlgorithm?
    @Option(help: "The OpenID provider's issuer, an https URL as its ID tokens name it.") var issuer: String?
    @Option(help: "The client id that the OpenID provider gave: the aud of its ID tokens.") var audience: String?
    @Option(help: "An allowed algorithm of the issuer's keys; may be repeated. All by default.")
    var idTokenAlg: [SignatureAlgorithm] = []
    @Flag(help: "End the sessions of a key that leaves the issuer's key set.")
    var endSessionsOfRemovedKeys = false
    @Option(help: "A host of its users' pictures; may be repeated.") var avatarHost: [String] = []
    @Option(help: "The algorithm of its sessions' tokens: RS256 or ES256.") var tokenAlg = AccessTokenAlgorithm
        .rs256

    func report(on installation: Installation) async throws -> Report {
        switch (key, issuer, audience) {
        case (let key?, nil, nil): try await addByKey(key, installation)
        case (nil, let issuer?, let audience?): try await addByIssuer(issuer, audience, installation)
        default: throw CommandFailure("Give --name and --key, or --issuer and --audience.", exitCode: .usage)
        }
    }

    private func addByKey(_ key: String, _ installation: Installation) async throws -> Report {
        guard let name else {
            throw CommandFailure("--name is missing: give the provider's name for people.", exitCode: .usage)
        }
        guard idTokenAlg.isEmpty, !endSessionsOfRemovedKeys else {
            throw CommandFailure(
                "--id-token-alg and --end-sessions-of-removed-keys require --issuer.", exitCode: .usage)
        }
        let verificationKey = try ProviderCommand.readKey(key, algorithm: alg)
        let slug = try parsedSlug()
        let made = try await installation.admin(mayCreate: true) {
            try await AddProvider($0.context)(
                name: name, slug: slug, account: account, avatarHosts: avatarHost, key: verificationKey,
                tokenAlgorithm: tokenAlg)
        }
        return Report([
            Entry("provider_id", "provider_id", made.provider.id), Entry("slug", made.provider.slug.text),
            Entry("key_id", "key_id", made.keyID), Entry("app_id", "app_id", made.applicationID),
        ])
    }

    private func addByIssuer(
        _ url: String, _ audience: String, _ installation: Installation
    ) async throws -> Report {
        let algorithms = idTokenAlg.isEmpty ? SignatureAlgorithm.allCases : idTokenAlg
        let allowsLoopback = installation.settings.allowsLoopbackURLs
        let issuer = try ProviderIssuer(
            typed: url, audience: audience, algorithms: algorithms.map(\.rawValue),
            endsSessionsOfRemovedKeys: endSessionsOfRemovedKeys, allowingLoopback: allowsLoopback)
        let slug = try parsedSlug()
        let reader = KeySetReader(DeliveryPolicy(), allowingLoopback: allowsLoopback)
        let made = try await installation.admin(mayCreate: true) {
            try await AddIssuer($0.context, readKeySet: { await reader($0) })(
                issuer, name: name, slug: slug, account: account, avatarHosts: avatarHost, tokenAlgorithm: tokenAlg)
        }
        return Report([
            Entry("provider_id", "provider_id", made.provider.id), Entry("slug", made.provider.slug.text),
            Entry("app_id", "app_id", made.applicationID), Entry("issuer", issuer.url),
            Entry("keys", String(made.keyCount)),
        ])
    }

    private func parsedSlug() throws(CommandFailure) -> Slug? {
        guard let slug else { return nil }
        guard let parsed = Slug(slug) else {
            throw CommandFailure("--slug must be lower-case letters, digits and inner hyphens.", exitCode: .usage)
        }
        return parsed
    }
}
