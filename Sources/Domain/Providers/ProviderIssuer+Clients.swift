import Encoding

package extension ProviderIssuer {
    /// Client ids to add to a provider by issuer, or to remove from it.
    struct Clients: Sendable, Equatable {
        /// Values that `aud` may contain.
        package let audiences: [String]
        /// Values that `azp` may have.
        let parties: [String]

        package init(audiences: [String], parties: [String]) {
            self.audiences = audiences
            self.parties = parties
        }

        /// Each client as a line for the audit log.
        package var lines: [String] { audiences.map { "audience \($0)" } + parties.map { "party \($0)" } }
    }

    /// The issuer with further clients, appended to the existing ones.
    ///
    /// - Throws: ``Refusal`` `malformed_request` for a bad client id, `conflict` for a registered one or one too many.
    func adding(_ clients: Clients) throws(Refusal) -> ProviderIssuer {
        let new = Clients(
            audiences: try Self.clients(clients.audiences, .audience),
            parties: try Self.clients(clients.parties, .party))
        let kinds: [([String], [String], Refusal.Subject)] = [
            (audiences, new.audiences, .audience), (parties, new.parties, .party),
        ]
        for (known, added, subject) in kinds {
            if let twice = added.first(where: { known.hasBytes(of: $0) }) {
                throw Refusal.issuerClientRegistered(twice, subject)
            }
            guard known.count + added.count <= Self.mostClients else {
                throw Refusal.issuerClientsExhausted(subject, allowed: Self.mostClients)
            }
        }
        return having(audiences: audiences + new.audiences, parties: parties + new.parties)
    }

    /// The issuer without some of its clients.
    ///
    /// - Parameter allowingAnyParty: whether the last party may be removed. Then any client may request ID tokens.
    /// - Throws: ``Refusal`` `not_found` for an unknown client, `conflict` for the last audience or party.
    func removing(_ clients: Clients, allowingAnyParty: Bool) throws(Refusal) -> ProviderIssuer {
        let (kept, keptParties) = (
            try Self.without(clients.audiences, audiences, .audience),
            try Self.without(clients.parties, parties, .party)
        )
        guard !kept.isEmpty else {
            throw Refusal.lastAudience
        }
        guard !keptParties.isEmpty || parties.isEmpty || allowingAnyParty else {
            throw Refusal.lastParty
        }
        return having(audiences: kept, parties: keptParties)
    }

    private func having(audiences: [String], parties: [String]) -> ProviderIssuer {
        ProviderIssuer(
            url: url, audience: audiences.first ?? audience, otherAudiences: Array(audiences.dropFirst()),
            parties: parties, algorithms: algorithms, endsSessionsOfRemovedKeys: endsSessionsOfRemovedKeys)
    }

    private static func without(
        _ removed: [String], _ known: [String], _ subject: Refusal.Subject
    ) throws(Refusal) -> [String] {
        if let unknown = removed.first(where: { !known.hasBytes(of: $0) }) {
            throw Refusal.unknownIssuerClient(unknown, subject)
        }
        return known.filter { !removed.hasBytes(of: $0) }
    }
}

extension [String] {
    /// Client ids are compared as bytes, as the claims of a token are.
    fileprivate func hasBytes(of text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}
