import Database
import Domain
import Repositories

/// An admin adds client ids to a provider by issuer, or removes some: what `aud` and `azp` of its ID tokens may name.
package struct ChangeIssuerClients: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Adds clients. Their ID tokens sign users in from now on.
    ///
    /// - Returns: the issuer with all of its clients.
    /// - Throws: `Refusal` `not_found`, `malformed_request`, `conflict`.
    package func add(_ clients: IssuerClients, to name: String) async throws -> ProviderIssuer {
        let actor = context.actor
        return try await context.write { transaction, events in
            let providers = ProviderRepository(transaction)
            var (provider, issuer) = try Self.find(name, providers)
            for audience in clients.audiences {
                guard let owner = try providers.find(issuer: issuer.url, audience: audience), owner != provider.id
                else { continue }
                throw Refusal.audienceOfAnotherProvider(audience)
            }
            issuer = try issuer.adding(clients)
            provider.issuer = issuer
            try providers.setClients(of: provider)
            for line in clients.lines {
                events.record(.providerChanged(provider.id, detail: "\(line) added"), by: actor)
            }
            return issuer
        }
    }

    /// Removes clients: their ID tokens sign nobody in. Sessions that they opened continue.
    ///
    /// - Returns: the issuer with the clients that are left.
    /// - Throws: `Refusal` `not_found`, `conflict` for the last audience, and for the last party unless any client may follow.
    package func remove(
        _ clients: IssuerClients, from name: String, allowingAnyParty: Bool
    ) async throws -> ProviderIssuer {
        let actor = context.actor
        return try await context.write { transaction, events in
            let providers = ProviderRepository(transaction)
            var (provider, issuer) = try Self.find(name, providers)
            issuer = try issuer.removing(clients, allowingAnyParty: allowingAnyParty)
            provider.issuer = issuer
            try providers.setClients(of: provider)
            for line in clients.lines {
                events.record(.providerChanged(provider.id, detail: "\(line) removed"), by: actor)
            }
            return issuer
        }
    }

    /// What ``remove(_:from:allowingAnyParty:)`` would leave. Nothing is changed.
    ///
    /// - Throws: as the removal itself.
    package func previewRemoval(
        of clients: IssuerClients, from name: String, allowingAnyParty: Bool
    ) async throws -> ProviderIssuer {
        try await list(of: name).removing(clients, allowingAnyParty: allowingAnyParty)
    }

    /// The issuer of a provider with its clients.
    ///
    /// - Throws: `Refusal` `not_found`; `malformed_request` for a provider without an issuer.
    package func list(of name: String) async throws -> ProviderIssuer {
        try await context.read { try Self.find(name, ProviderRepository($0)).issuer }
    }

    private static func find(
        _ name: String, _ providers: ProviderRepository
    ) throws -> (provider: Provider, issuer: ProviderIssuer) {
        let provider = try providers.require(name)
        guard let issuer = provider.issuer else {
            throw Refusal.providerWithoutIssuer(provider.slug)
        }
        return (provider, issuer)
    }
}
