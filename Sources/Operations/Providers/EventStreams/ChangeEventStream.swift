import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories

/// A provider creates, changes and deletes its streams.
///
/// An access token alone creates a stream, and changes none: events about users must not go where a stolen token says,
/// nor nowhere. A push address of a stream that is created without a fresh proof waits for an operator's approval;
/// until then the stream is paused, and holds its events.
package struct ChangeEventStream: Sendable {
    private let context: Service
    private let allowsLoopback: Bool

    /// - Parameter allowingLoopback: takes receivers on this machine: the switch for development and tests.
    package init(_ context: Service, allowingLoopback: Bool) {
        self.context = context
        allowsLoopback = allowingLoopback
    }

    /// Creates a stream.
    ///
    /// - Parameter proof: who signed the fresh proof that came with the request; `nil` if none did.
    /// - Throws: `Refusal` `malformed_request` for an address that is not public; `conflict` if the provider has as many
    ///   streams as it may; `provider_token_invalid` if the key or the provider ended meanwhile.
    package func create(
        _ change: EventStreamChange, proof: FreshProof?, by caller: ProvenProvider
    ) async throws -> EventStream {
        try await context.countReceiverChange("streams", of: caller.id)
        let change = try await checked(change, of: caller.id)
        let (limit, id) = (context.policy[\.webhooks].streamsPerProvider, context.environment.newUUID())
        return try await context.write { [keys = context.keys.personal] transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            guard try streams.list(of: caller.id).count < limit else {
                throw Refusal.eventStreamsExhausted(limit)
            }
            var stream = EventStream(
                id: EventStreamID(id), provider: caller.id, settings: change.applied(to: EventStreamSettings()),
                createdAt: transaction.now, activeAt: transaction.now)
            if let proof {
                try proof.requireActive(in: transaction)
                stream.approve()
            }
            try streams.save(stream)
            if let header = change.authorization ?? nil {
                try streams.setAuthorization(header, of: stream.id, keys: keys)
            }
            events.record(.eventStreamSet(stream.id, caller.id), by: "provider \(caller.id)")
            return stream
        }
    }

    /// Changes the settings that are given.
    ///
    /// - Throws: `Refusal` as ``create(_:proof:by:)``; `not_found`.
    package func update(
        _ id: EventStreamID, _ change: EventStreamChange, by caller: FreshProof
    ) async throws -> EventStream {
        try await context.countReceiverChange("streams", of: caller.id)
        let change = try await checked(change, of: caller.id)
        return try await context.write { [keys = context.keys.personal] transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            var stream = try streams.require(id, of: caller.id)
            let former = stream.settings.delivery
            stream.settings = change.applied(to: stream.settings)
            stream.activeAt = transaction.now
            // What was set before by somebody else is not approved by a later proof.
            if change.delivery != nil { stream.approve() }
            try streams.save(stream)
            // A header is the secret of one address.
            if change.authorization != nil || stream.settings.delivery != former {
                try streams.setAuthorization(change.authorization ?? nil, of: id, keys: keys)
            }
            let isPolled = stream.settings.delivery == .poll
            if (former == .poll) != isPolled { try StreamQueueRepository(transaction, of: id).move(toPoll: isPolled) }
            events.record(.eventStreamSet(id, caller.id), by: "provider \(caller.id)")
            events.record(.eventsWait(in: id))
            return stream
        }
    }

    /// Deletes a stream with everything that waits in it.
    ///
    /// - Throws: `Refusal` `not_found`; `provider_token_invalid`.
    package func delete(_ id: EventStreamID, by caller: FreshProof) async throws {
        try await context.countReceiverChange("streams", of: caller.id)
        try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            _ = try streams.require(id, of: caller.id)
            try StreamQueueRepository(transaction, of: id).clear()
            try EventSubjectRepository(transaction).clear(id)
            try streams.remove(id)
            events.record(.eventStreamRemoved(id, caller.id), by: "provider \(caller.id)")
            events.record(.eventsWait(in: id))
        }
    }

    /// The change with the push address in its one spelling.
    private func checked(_ change: EventStreamChange, of provider: ProviderID) async throws -> EventStreamChange {
        guard case .push(let text)?? = change.delivery else { return change }
        guard let url = PublicURL(text, allowingLoopback: allowsLoopback) else {
            throw Refusal.notPublicURL(.streamURL)
        }
        guard await !url.isPrivate(of: .provider(provider)) else {
            throw Refusal.privateHost(.streamURL)
        }
        var change = change
        change.delivery = .push(url.description)
        return change
    }
}

extension EventStream {
    /// Approves the push address that there is now.
    fileprivate mutating func approve() {
        if case .push(let url) = settings.delivery { approvedURL = url }
    }
}

extension Service {
    /// Counts a change of a provider's webhook or streams: each may look a host up, and is kept in the audit log.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func countReceiverChange(_ kind: String, of provider: ProviderID) async throws {
        guard rateLimiting == .on else { return }
        try await store.transaction {
            try RateRepository($0).count("\(kind) \(provider)", limit: RateLimit(count: 10, per: 60))
        }
    }
}
