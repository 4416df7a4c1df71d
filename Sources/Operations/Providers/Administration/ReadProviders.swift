import Database
import Domain
import Foundation
import Repositories

package extension Administration {
    /// A provider with all of its registered data.
    struct ProviderDetail: Sendable {
        package let provider: Provider
        package let applications: [Application]
        package let keys: [ProviderKeyRecord]
        /// The URL of its webhook; `nil` if it has none.
        package let webhook: String?
        package let resources: [ProviderResource]
        package let streams: [EventStream]
    }

    /// All providers, sorted by slug.
    func listProviders() async throws -> [Provider] {
        try await read(.manage) { try ProviderRepository($0).list() }
    }

    /// All registered data of a provider, by id or slug.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readProvider(_ name: String) async throws -> ProviderDetail {
        try await read(.manage) { transaction in
            let provider = try ProviderRepository(transaction).require(name)
            return try transaction.joined { try ProviderDetail(of: provider, in: $0) }
        }
    }

    /// When the keys of each issuer were fetched.
    func issuerReadings() async throws -> [String: IssuerReading] {
        try await read(.manage) { try IssuerRepository($0).list() }
    }

    /// The streams of a provider, by id or slug.
    ///
    /// - Throws: `Refusal` `not_found`.
    func listEventStreams(of name: String) async throws -> [EventStream] {
        try await read(.manage) { transaction in
            let provider = try ProviderRepository(transaction).require(name)
            return try EventStreamRepository(transaction).list(of: provider.id)
        }
    }

    /// One stream of any provider.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readEventStream(_ id: EventStreamID) async throws -> EventStream {
        try await read(.manage) { try EventStreamRepository($0).require(id) }
    }

    /// Approves the push address of a stream, so that events are sent to it. The receiver gets an event that the stream
    /// is enabled.
    ///
    /// - Parameter url: the address that the admin read. Another one may have been set since.
    /// - Throws: `Refusal` `not_found`; `conflict` if there is nothing to approve, or the address is another one.
    func approveEventStream(_ id: EventStreamID, url: String) async throws -> EventStream {
        try await write(.manage) { transaction, events in
            let streams = EventStreamRepository(transaction)
            var stream = try streams.require(id)
            guard stream.awaitsApproval, case .push(let present) = stream.settings.delivery else {
                throw Refusal.nothingToApprove
            }
            guard present == url else {
                throw Refusal.pushAddressChanged(to: present)
            }
            stream.approvedURL = present
            try streams.save(stream)
            if stream.status == .enabled {
                try streams.enqueue(
                    environment.newIdentifier(),
                    .updated(.enabled, reason: "An operator approved the push address."), of: nil, in: .init(stream),
                    cause: environment.newUUID().uuidString.lowercased())
            }
            events.record(.eventStreamApproved(id, stream.provider), by: actor)
            events.record(.eventsWait(in: id))
            return stream
        }
    }
}

extension Administration.ProviderDetail {
    /// Reads by queries of which none depends on another.
    init(of provider: Provider, in transaction: any Transaction) throws {
        self.init(
            provider: provider, applications: try ProviderRepository(transaction).listApplications(of: provider.id),
            keys: try ProviderKeyRepository(transaction).list(of: provider.id),
            webhook: try ProviderWebhookRepository(transaction).find(provider.id),
            resources: try ProviderResourceRepository(transaction).list(of: provider.id),
            streams: try EventStreamRepository(transaction).list(of: provider.id))
    }
}

extension ProviderRepository {
    /// The provider that an admin names, by id, by slug, or by the beginning of the id.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if several ids have the beginning.
    func require(_ name: String) throws -> Provider {
        if let provider = try ProviderID(name[...]).flatMap({ try find($0) }) { return provider }
        if let provider = try Slug(name).flatMap({ try find($0) }) { return provider }
        let typed = TypedID<Kind.Provider>(name)
        guard typed.range != nil, let provider = try find(typed.resolve { try ids(typed, limit: $0) }) else {
            throw Refusal.unknownProvider(name)
        }
        return provider
    }
}

extension EventStreamRepository {
    fileprivate func require(_ id: EventStreamID) throws -> EventStream {
        guard let stream = try find(id) else { throw Refusal.unknownEventStream(id) }
        return stream
    }
}
