import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories

/// A provider creates, changes and deletes its streams.
///
/// With only an access token a caller can create a stream, but not change one: a stolen token must not redirect or stop
/// events about users. The push address of a stream that was created without a fresh proof waits for an operator's
/// approval. Until then the stream is paused and keeps its events.
package extension Service {
    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - proof: the fresh proof in the request; `nil` if there is none.
    ///   - allowingLoopback: whether receivers on this machine are accepted, for development and tests.
    /// - Throws: `Refusal` `malformed_request` for an address that is not public; `conflict` if the provider has the
    ///   maximum number of streams; `provider_token_invalid` if the key or the provider ended meanwhile.
    func createEventStream(
        _ change: EventStream.Change, proof: FreshProof?, by caller: ProvenProvider, allowingLoopback: Bool
    ) async throws -> EventStream {
        try await countReceiverChange("streams", of: caller.id)
        let change = try await checked(change, of: caller.id, allowingLoopback)
        let (limit, id) = (policy[\.webhooks].streamsPerProvider, environment.newUUID())
        return try await write { [keys = keys.personal] transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            guard try streams.list(of: caller.id).count < limit else {
                throw Refusal.eventStreamsExhausted(limit)
            }
            var stream = EventStream(
                id: EventStreamID(id), provider: caller.id, settings: change.applied(to: EventStream.Settings()),
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
    /// - Throws: `Refusal` as ``createEventStream(_:proof:by:allowingLoopback:)``; `not_found`.
    func updateEventStream(
        _ id: EventStreamID, _ change: EventStream.Change, by caller: FreshProof, allowingLoopback: Bool
    ) async throws -> EventStream {
        try await countReceiverChange("streams", of: caller.id)
        let change = try await checked(change, of: caller.id, allowingLoopback)
        return try await write { [keys = keys.personal] transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            var stream = try streams.require(id, of: caller.id)
            let former = stream.settings.delivery
            stream.settings = change.applied(to: stream.settings)
            stream.activeAt = transaction.now
            // A proof approves only an address that its own request sets.
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

    /// Deletes a stream with all of its undelivered events.
    ///
    /// - Throws: `Refusal` `not_found`; `provider_token_invalid`.
    func deleteEventStream(_ id: EventStreamID, by caller: FreshProof) async throws {
        try await countReceiverChange("streams", of: caller.id)
        try await write { transaction, events in
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

    /// Enables, pauses or disables a stream (SSF 1.0 §8.1.2.2). A paused stream keeps its events, a disabled one drops
    /// them.
    ///
    /// - Throws: `Refusal` `not_found`; `provider_token_invalid`.
    func setEventStreamStatus(
        _ id: EventStreamID, _ status: EventStream.Status, because reason: String?, by caller: FreshProof
    ) async throws -> EventStream {
        try await countReceiverChange("streams", of: caller.id)
        return try await write { transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            var stream = try streams.require(id, of: caller.id)
            stream.set(status, because: reason)
            stream.activeAt = transaction.now
            try streams.save(stream)
            if status == .disabled { try StreamQueueRepository(transaction, of: id).clear() }
            events.record(.eventStreamSet(id, caller.id), by: "provider \(caller.id)")
            events.record(.eventsWait(in: id))
            return stream
        }
    }

    /// Writes a verification event into a stream, so that its provider sees whether it works (SSF 1.0 §8.1.4.2). A
    /// paused stream keeps it like any other event.
    ///
    /// - Throws: `Refusal` `not_found`; `conflict` if the stream is disabled; `rate_limited`; `provider_token_invalid`
    ///   if the caller's key was revoked meanwhile.
    func verifyEventStream(_ id: EventStreamID, state: String?, by caller: ProvenProvider) async throws {
        let interval = policy[\.webhooks].verificationInterval
        try await write { transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            var stream = try streams.require(id, of: caller.id)
            guard stream.status != .disabled else {
                throw Refusal.eventStreamDisabled(state: stream.status.rawValue)
            }
            let wait = stream.verifiedAt.map { interval - transaction.now.timeIntervalSince($0) } ?? 0
            guard rateLimiting == .off || wait <= 0 else {
                let seconds = max(1, Int(saturating: wait.rounded(.up)))
                throw Refusal.verifiedTooSoon(retryAfter: seconds)
            }
            (stream.verifiedAt, stream.activeAt) = (transaction.now, transaction.now)
            try streams.save(stream)
            try streams.enqueue(
                environment.newIdentifier(), .verification(state: state), of: nil, in: .init(stream),
                cause: environment.newUUID().uuidString.lowercased())
            events.record(.eventsWait(in: id))
        }
    }

    /// All streams of a provider, oldest first.
    func listEventStreams(of provider: ProviderID) async throws -> [EventStream] {
        let streams = try await read { try EventStreamRepository($0).list(of: provider) }
        for stream in streams { try await noteActivity(of: stream) }
        return streams
    }

    /// One of a provider's streams.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readEventStream(_ id: EventStreamID, of provider: ProviderID) async throws -> EventStream {
        let stream = try await read { try EventStreamRepository($0).require(id, of: provider) }
        try await noteActivity(of: stream)
        return stream
    }
}

extension Service {
    /// Counts a change of a provider's webhook or streams. Each may resolve a host, and is recorded in the audit log.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func countReceiverChange(_ kind: String, of provider: ProviderID) async throws {
        guard rateLimiting == .on else { return }
        try await store.transaction {
            try RateRepository($0).count("\(kind) \(provider)", limit: RateLimit(count: 10, per: 60))
        }
    }

    /// The change with the normalised push address.
    private func checked(
        _ change: EventStream.Change, of provider: ProviderID, _ allowingLoopback: Bool
    ) async throws -> EventStream.Change {
        guard case .push(let text)?? = change.delivery else { return change }
        guard let url = PublicURL(text, allowingLoopback: allowingLoopback) else {
            throw Refusal.notPublicURL(text, .streamURL)
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
    /// Approves the present push address.
    fileprivate mutating func approve() {
        if case .push(let url) = settings.delivery { approvedURL = url }
    }
}

package extension EventStream {
    /// The approximate maximum size in bytes of a list of a hundred streams, the most that a policy allows.
    static let largestList = 131_072
}

extension Service {
    /// Records that a receiver uses its stream, if its inactivity is limited. It does so seldom, because it is a write.
    func noteActivity(of stream: EventStream) async throws {
        guard let limit = policy[\.webhooks].streamInactivity else { return }
        let age = stream.activeAt.map { environment.now().timeIntervalSince($0) } ?? .infinity
        guard age > min(60, limit / 4) else { return }
        try await store.transaction { try EventStreamRepository($0).setActive($0.now, of: stream.id) }
    }
}

extension EventStreamRepository {
    /// The provider's stream with an id; another provider's stream is not found.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ id: EventStreamID, of provider: ProviderID) throws -> EventStream {
        guard let stream = try find(id), stream.provider == provider else {
            throw Refusal.unknownOwnEventStream
        }
        return stream
    }
}
