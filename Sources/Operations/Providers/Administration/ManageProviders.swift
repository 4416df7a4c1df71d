import Database
import Domain
import Encoding
import Repositories

package extension Administration {
    /// The provider, and the number of open sessions that would end, counted up to ``CountedSessions/limit``. Nothing is
    /// changed.
    ///
    /// - Throws: `Refusal` `not_found`.
    func previewDisabling(_ name: String) async throws -> (provider: Provider, sessions: CountedSessions) {
        // Not in the transaction of the change, which would conflict with each sign-in of the provider.
        try await read(.manage) { transaction in
            let provider = try ProviderRepository(transaction).require(name)
            return (provider, try CountedSessions(behind: .provider(provider.id), in: transaction))
        }
    }

    /// Disables a provider, which invalidates its tokens, keys and sessions.
    ///
    /// - Returns: the number of open sessions just before, counted up to ``CountedSessions/limit``.
    /// - Parameter urgency: why it does not wait for a second administrator if it needs one; `nil` if it can wait.
    /// - Throws: `Refusal` `not_found`, or `conflict` with the state `waiting`.
    func disableProvider(
        _ name: String, reason: AuditReason? = nil, urgency: AuditReason? = nil
    ) async throws -> CountedSessions {
        let count = try await previewDisabling(name).sessions
        let actID: WaitingActID = environment.newIdentifier()
        let outcome: RequestedAct.Outcome<CountedSessions> = try await write(.manage) { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            let act = RequestedAct(
                id: actID, kind: .disabling, subject: AuditSubject(.provider, provider),
                content: .object(["provider": .string(provider.description)]), users: 0, reason: reason)
            if try mustWait(act, urgency: urgency, in: transaction, &events) { return .waits(actID) }
            try disable(provider, because: reason, in: transaction, &events)
            return .done(count)
        }
        return try outcome.value()
    }

    /// Enables a provider again. Its ended sessions stay ended.
    ///
    /// - Throws: `Refusal` `not_found`.
    func enableProvider(_ name: String, reason: AuditReason? = nil) async throws {
        try await write(.manage) { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            try ProviderRepository(transaction).setDisabled(provider, at: nil)
            events.record(.providerEnabled(provider), by: actor, because: reason)
        }
    }

    /// Sets the algorithm that signs access tokens for a provider's backend. Existing tokens keep their algorithm until
    /// they expire.
    ///
    /// - Throws: `Refusal` `not_found`.
    func setTokenAlgorithm(_ algorithm: AccessTokenAlgorithm, of name: String) async throws {
        try await write(.manage) { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            try ProviderRepository(transaction).setTokenAlgorithm(provider, algorithm)
            events.record(.providerChanged(provider, detail: "token algorithm \(algorithm.rawValue)"), by: actor)
        }
    }

    /// The URLs of a provider's backend, oldest first.
    ///
    /// - Throws: `Refusal` `not_found`.
    func listResources(of name: String) async throws -> [ProviderResource] {
        try await read(.manage) { transaction in
            let provider = try ProviderRepository(transaction).require(name).id
            return try ProviderResourceRepository(transaction).list(of: provider)
        }
    }

    /// Registers the URL of a provider's backend. From now on a device may name the provider by it.
    ///
    /// - Parameter own: the URLs of this service, as far as the command knows them. A token for such a URL would have
    ///   the audience of tokens that the service itself accepts.
    /// - Throws: `Refusal` `not_found`; `malformed_request` for a URL of this service; `conflict` if the URL is already
    ///   registered for any provider.
    func addResource(_ url: ResourceURL, to name: String, own: [String] = []) async throws {
        guard !own.contains(where: url.isWithin) else {
            throw Refusal.ownResource(url.text)
        }
        try await write(.manage) { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            let resource = ProviderResource(url: url, providerID: provider)
            guard try ProviderResourceRepository(transaction).insert(resource, at: transaction.now) else {
                throw Refusal.resourceRegistered(url.text)
            }
            events.record(.providerChanged(provider, detail: "resource \(url.text) added"), by: actor)
        }
    }

    /// Removes the URL of a provider's backend. No further token is issued for it, and existing ones expire within
    /// minutes.
    ///
    /// - Throws: `Refusal` `not_found`.
    func removeResource(_ url: ResourceURL) async throws {
        try await write(.manage) { transaction, events in
            let resources = ProviderResourceRepository(transaction)
            let found = try resources.require(url)
            try resources.remove(url)
            events.record(.providerChanged(found.providerID, detail: "resource \(found.url.text) removed"), by: actor)
        }
    }

    /// Checks that the URL could be removed. Nothing is changed.
    ///
    /// - Throws: as ``removeResource(_:)``.
    func previewRemoval(of url: ResourceURL) async throws {
        _ = try await read(.manage) { try ProviderResourceRepository($0).require(url) }
    }
}

extension ProviderResourceRepository {
    fileprivate func require(_ url: ResourceURL) throws -> ProviderResource {
        guard let found = try find(url) else {
            throw Refusal.unknownResource(url.text)
        }
        return found
    }
}

extension Administration {
    /// Disables a provider in the transaction of its command or of a confirmation.
    func disable(
        _ provider: ProviderID, because reason: AuditReason?, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws {
        try ProviderRepository(transaction).setDisabled(provider, at: transaction.now)
        try RevokeSessions(transaction: transaction)(.provider(provider), .providerDisabled, &events)
        events.record(.providerDisabled(provider), by: actor, because: reason)
    }
}
