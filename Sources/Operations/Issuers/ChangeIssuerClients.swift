import Database
import Domain
import Repositories

/// Changes of the client ids of a provider by issuer: the values that `aud` and `azp` of its ID tokens may have.
package extension Administration {
    /// Adds clients, whose ID tokens sign users in from now on.
    ///
    /// - Returns: the issuer with all of its clients.
    /// - Throws: `Refusal` `not_found`, `malformed_request`, `conflict`.
    func addIssuerClients(_ clients: ProviderIssuer.Clients, to name: String) async throws -> ProviderIssuer {
        try await write(.manage) { transaction, events in
            let providers = ProviderRepository(transaction)
            var (provider, issuer) = try providers.requireIssuer(name)
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

    /// Removes clients, whose ID tokens no longer sign users in. Sessions that they opened continue.
    ///
    /// - Returns: the issuer with the clients that are left.
    /// - Throws: `Refusal` `not_found`, `conflict` for the last audience, and for the last party unless any client may
    ///   follow.
    func removeIssuerClients(
        _ clients: ProviderIssuer.Clients, from name: String, allowingAnyParty: Bool
    ) async throws -> ProviderIssuer {
        try await write(.manage) { transaction, events in
            let providers = ProviderRepository(transaction)
            var (provider, issuer) = try providers.requireIssuer(name)
            issuer = try issuer.removing(clients, allowingAnyParty: allowingAnyParty)
            provider.issuer = issuer
            try providers.setClients(of: provider)
            for line in clients.lines {
                events.record(.providerChanged(provider.id, detail: "\(line) removed"), by: actor)
            }
            return issuer
        }
    }

    /// What ``removeIssuerClients(_:from:allowingAnyParty:)`` would leave. Nothing is changed.
    ///
    /// - Throws: as the removal itself.
    func previewRemoval(
        of clients: ProviderIssuer.Clients, from name: String, allowingAnyParty: Bool
    ) async throws -> ProviderIssuer {
        try await issuerClients(of: name).removing(clients, allowingAnyParty: allowingAnyParty)
    }

    /// The issuer of a provider with its clients.
    ///
    /// - Throws: `Refusal` `not_found`; `malformed_request` for a provider without an issuer.
    func issuerClients(of name: String) async throws -> ProviderIssuer {
        try await read(.manage) { try ProviderRepository($0).requireIssuer(name).issuer }
    }
}

extension ProviderRepository {
    fileprivate func requireIssuer(_ name: String) throws -> (provider: Provider, issuer: ProviderIssuer) {
        let provider = try require(name)
        guard let issuer = provider.issuer else {
            throw Refusal.providerWithoutIssuer(provider.slug)
        }
        return (provider, issuer)
    }
}
