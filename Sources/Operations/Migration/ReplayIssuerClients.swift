import Database
import Domain
import Encoding
import Repositories

/// Removes client ids that providers by issuer have lost since a copy of the store was made. ID tokens for them would
/// sign users in again.
struct ReplayIssuerClients: Sendable {
    private let issuers: [ProviderID: ProviderIssuer]

    /// Reads the client ids of the replaced store.
    init(of transaction: any Transaction) throws {
        let known = try ProviderRepository(transaction).list().compactMap { provider in
            provider.issuer.map { (provider.id, $0) }
        }
        issuers = Dictionary(known) { first, _ in first }
    }

    /// Removes clients that the replaced store no longer has. Clients that were added since are lost, unless no other
    /// is left.
    func callAsFunction(in transaction: any Transaction) throws -> [ReplayReceivers.Removal] {
        let providers = ProviderRepository(transaction)
        return try providers.list().flatMap { provider -> [ReplayReceivers.Removal] in
            guard let issuer = provider.issuer, let present = issuers[provider.id] else { return [] }
            let limited = try issuer.limited(to: present) { audience in
                try providers.find(issuer: issuer.url, audience: audience) == nil
            }
            guard limited != issuer else { return [] }
            var changed = provider
            changed.issuer = limited
            try providers.setClients(of: changed)
            let gone =
                issuer.audiences.filter { !limited.audiences.contains($0) }.map { "audience \($0)" }
                + issuer.parties.filter { !limited.parties.contains($0) }.map { "party \($0)" }
            let isNarrowed = issuer.parties.isEmpty && !limited.parties.isEmpty
            return (gone + (isNarrowed ? ["any other party"] : [])).map {
                ReplayReceivers.Removal(provider: provider.id, what: $0)
            }
        }
    }
}

extension ProviderIssuer {
    /// The issuer without the clients that a later state lacks.
    ///
    /// - Parameter isFree: whether no provider has an audience.
    fileprivate func limited(to present: ProviderIssuer, isFree: (String) throws -> Bool) rethrows -> ProviderIssuer {
        var kept = audiences.filter { audience in present.audiences.contains { $0.hasSameBytes(as: audience) } }
        if kept.isEmpty { kept = try present.audiences.filter(isFree) }
        // Without a party any client may request tokens.
        let keptParties = parties.filter { party in present.parties.contains { $0.hasSameBytes(as: party) } }
        return ProviderIssuer(
            url: url, audience: kept.first ?? audience, otherAudiences: Array(kept.dropFirst()),
            parties: present.parties.isEmpty ? parties : keptParties.isEmpty ? present.parties : keptParties,
            algorithms: algorithms, endsSessionsOfRemovedKeys: endsSessionsOfRemovedKeys)
    }
}
