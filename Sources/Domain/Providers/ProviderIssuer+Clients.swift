import Encoding

/// Client ids that are added to a provider by issuer, or removed from it.
package struct IssuerClients: Sendable, Equatable {
    /// What `aud` may name.
    package let audiences: [String]
    /// What `azp` may name.
    package let parties: [String]

    package init(audiences: [String], parties: [String]) {
        self.audiences = audiences
        self.parties = parties
    }

    /// Each client for the audit log.
    package var lines: [String] { audiences.map { "audience \($0)" } + parties.map { "party \($0)" } }
}

extension ProviderIssuer {
    /// The issuer with further clients, after those that it has.
    ///
    /// - Throws: ``Refusal`` `malformed_request` for a bad client id, `conflict` for one that is registered or one too many.
    package func adding(_ clients: IssuerClients) throws(Refusal) -> ProviderIssuer {
        let new = IssuerClients(
            audiences: try Self.clients(clients.audiences, "audience"),
            parties: try Self.clients(clients.parties, "party"))
        for (known, added, name) in [(audiences, new.audiences, "audience"), (parties, new.parties, "party")] {
            if let twice = added.first(where: { known.hasBytes(of: $0) }) {
                throw Refusal(
                    .conflict, "The provider has the \(name) \(twice) already. Leave it out.", state: "registered")
            }
            guard known.count + added.count <= Self.mostClients else {
                throw Refusal(
                    .conflict, "A provider has at most \(Self.mostClients) of them. Remove another \(name) first.",
                    state: "full")
            }
        }
        return having(audiences: audiences + new.audiences, parties: parties + new.parties)
    }

    /// The issuer without some of its clients.
    ///
    /// - Parameter allowingAnyParty: whether the last party may be removed, after which any client may request ID tokens.
    /// - Throws: ``Refusal`` `not_found` for a client that it does not have, `conflict` for the last audience or party.
    package func removing(_ clients: IssuerClients, allowingAnyParty: Bool) throws(Refusal) -> ProviderIssuer {
        let (kept, keptParties) = (
            try Self.without(clients.audiences, audiences, "audience"),
            try Self.without(clients.parties, parties, "party")
        )
        guard !kept.isEmpty else {
            throw Refusal(
                .conflict, "A provider by issuer needs an audience. Add another before you remove the last one.",
                state: "last_audience")
        }
        guard !keptParties.isEmpty || parties.isEmpty || allowingAnyParty else {
            throw Refusal(
                .conflict, "Without its last party any client may request ID tokens for the provider.", about: .parties,
                state: "last_party")
        }
        return having(audiences: kept, parties: keptParties)
    }

    private func having(audiences: [String], parties: [String]) -> ProviderIssuer {
        ProviderIssuer(
            url: url, audience: audiences.first ?? audience, otherAudiences: Array(audiences.dropFirst()),
            parties: parties, algorithms: algorithms, endsSessionsOfRemovedKeys: endsSessionsOfRemovedKeys)
    }

    private static func without(_ removed: [String], _ known: [String], _ name: String) throws(Refusal) -> [String] {
        if let unknown = removed.first(where: { !known.hasBytes(of: $0) }) {
            throw Refusal(.notFound, "The provider has no \(name) \(unknown). Look at the list of its clients.")
        }
        return known.filter { !removed.hasBytes(of: $0) }
    }
}

extension [String] {
    /// Client ids are compared as bytes, as the claims of a token are.
    fileprivate func hasBytes(of text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}
