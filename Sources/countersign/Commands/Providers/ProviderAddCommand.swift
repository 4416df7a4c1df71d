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
            """,
        example: "provider add --name Acme --key acme.pem")
    @OptionGroup var shared: SharedOptions
    @Option(help: "The name for people; the issuer's host by default.") var name: String?
    @Option(help: "The first part of its users' addresses: a to z, digits, inner hyphens; from the name by default.")
    var slug: String?
    @Option(help: "The developer's account that owns it.") var account: String?
    @Option(help: "The file of its public key, PEM or JWK.") var key: String?
    @Option(help: "The key's algorithm; by its type by default.") var alg: SignatureAlgorithm?
    @Option(help: "The OpenID provider's issuer, an https URL as its ID tokens name it.") var issuer: String?
    @Option(help: "A client id that the OpenID provider gave, the aud of its ID tokens; may be repeated.")
    var audience: [String] = []
    @Option(help: "A client that may request ID tokens for the audience (azp); may be repeated. Any by default.")
    var party: [String] = []
    @Option(help: "An allowed algorithm of the issuer's keys; may be repeated. All by default.")
    var idTokenAlg: [SignatureAlgorithm] = []
    @Flag(help: "End the sessions of a key that leaves the issuer's key set.")
    var endSessionsOfRemovedKeys = false
    @Option(help: "A host of its users' pictures; may be repeated.") var avatarHost: [String] = []
    @Option(help: "The algorithm of its sessions' tokens: RS256 or ES256.") var tokenAlg = AccessTokenAlgorithm
        .rs256

    /// What a backend signs, and what OAuth calls these ids.
    private static func explanation(_ made: Administration.ProviderRegistration, _ algorithm: SignatureAlgorithm)
        -> [String]
    {
        [
            "An identity token of this provider is signed with the key, over this header and payload:",
            #"{"typ":"JWS","cty":"layer-eit;v=1","alg":"\#(algorithm.rawValue)","kid":"\#(made.keyID)"}"#,
            #"{"iss":"\#(made.provider.id)","prn":"USER","nce":"NONCE","iat":NOW,"exp":NOW+300}"#,
            "In OAuth client_id is the provider_id for client_credentials, and the app_id for grants of devices.",
        ]
    }

    func report(on installation: Installation) async throws -> Report {
        switch (key, issuer, audience.isEmpty) {
        case (let key?, nil, true): try await addByKey(key, installation)
        case (nil, let issuer?, false): try await addByIssuer(issuer, installation)
        default: throw CommandFailure("Give --name and --key, or --issuer and --audience.", exitCode: .usage)
        }
    }

    private func addByKey(_ key: String, _ installation: Installation) async throws -> Report {
        guard let name else {
            throw CommandFailure("--name is missing: give the provider's name for people.", exitCode: .usage)
        }
        guard idTokenAlg.isEmpty, party.isEmpty, !endSessionsOfRemovedKeys else {
            throw CommandFailure(
                "--id-token-alg, --party and --end-sessions-of-removed-keys require --issuer.", exitCode: .usage)
        }
        let verificationKey = try ProviderCommand.readKey(key, algorithm: alg)
        let slug = try parsedSlug()
        let made = try await installation.admin(mayCreate: true) {
            try await $0.administration.addProvider(
                name: name, slug: slug, account: account, avatarHosts: avatarHost, key: verificationKey,
                tokenAlgorithm: tokenAlg)
        }
        var report = Report([
            Entry("provider_id", "provider_id", made.provider.id), Entry("slug", made.provider.slug.text),
            Entry("key_id", "key_id", made.keyID), Entry("app_id", "app_id", made.applicationID),
        ])
        report.notes = Self.explanation(made, verificationKey.algorithm)
        return report
    }

    private func addByIssuer(_ url: String, _ installation: Installation) async throws -> Report {
        guard alg == nil else {
            throw CommandFailure("--alg requires --key: give --id-token-alg.", exitCode: .usage)
        }
        let algorithms = idTokenAlg.isEmpty ? SignatureAlgorithm.allCases : idTokenAlg
        let allowsLoopback = installation.settings.allowsLoopbackURLs
        let issuer = try ProviderIssuer(
            typed: url, audiences: audience, parties: party, algorithms: algorithms.map(\.rawValue),
            endsSessionsOfRemovedKeys: endSessionsOfRemovedKeys, allowingLoopback: allowsLoopback)
        let slug = try parsedSlug()
        let reader = KeySetReader(DeliveryPolicy(), allowingLoopback: allowsLoopback)
        let made = try await installation.admin(mayCreate: true) {
            try await $0.administration.addIssuer(
                issuer, name: name, slug: slug, account: account, avatarHosts: avatarHost, tokenAlgorithm: tokenAlg,
                readKeySet: { await reader($0) })
        }
        var report = Report([
            Entry("provider_id", "provider_id", made.provider.id), Entry("slug", made.provider.slug.text),
            Entry("app_id", "app_id", made.applicationID), Entry("issuer", issuer.url),
            Entry("keys", String(made.keyCount)),
        ])
        report.notes = [
            "A device gives the nonce of POST /nonces to the issuer as nonce, and signs in with the ID token:",
            #"POST /sessions {"identity_token":"ID_TOKEN"}"#,
            "In OAuth client_id is the app_id, and not the client id that the issuer gave.",
        ]
        return report
    }

    private func parsedSlug() throws(CommandFailure) -> Slug? {
        guard let slug else { return nil }
        guard let parsed = Slug(slug) else {
            throw CommandFailure(
                "--slug must have 1 to 40 characters: a to z, digits and inner hyphens.", exitCode: .usage)
        }
        return parsed
    }
}
