import Database
import Domain
import Foundation
import Repositories
import Tokens

/// A receiver's request for events (RFC 8936 §2.2).
package struct EventPoll: Sendable {
    /// The maximum number of events; `nil` for all that are available, 0 for none.
    let maximum: Int?
    /// Whether to respond at once, even without an event.
    let isImmediate: Bool
    /// The events that the receiver has accepted.
    let received: [OutboxMessageID]
    /// The events that the receiver has refused, each with the error code.
    let refused: [(id: OutboxMessageID, reason: String)]
    /// The texts among both that are not ids of this service.
    let unreadable: [String]

    package init(
        maximum: Int?, isImmediate: Bool, received: [OutboxMessageID],
        refused: [(id: OutboxMessageID, reason: String)], unreadable: [String] = []
    ) {
        self.maximum = maximum
        self.isImmediate = isImmediate
        self.received = received
        self.refused = refused
        self.unreadable = unreadable
    }
}

/// The returned events, by their ids.
package struct PolledEvents: Sendable {
    package let tokens: [(id: String, token: String)]
    package let hasMore: Bool
    /// The acknowledged ids that name no event of the stream, or one that is no longer remembered.
    package var unknown: [String] = []

    /// The bytes that are reserved for an event before it is signed.
    static let usualSize = 2048

    /// Whether no event is available. A poll for no events returns when some are available (RFC 8936 §2.2).
    var isEmpty: Bool { tokens.isEmpty && !hasMore }
}

/// An event that is ready to be signed.
struct UnsignedEvent: Sendable {
    let token: StreamEventToken
    let keys: AccessTokenKeys

    func signed() throws -> String { try token.signed(with: keys) }
}

/// How often a waiting poll reads the store. Another process may have written an event without a notice.
private let wakeInterval: TimeInterval = 1

extension Service {
    /// A receiver polls the events of its stream and acknowledges earlier ones (RFC 8936). This ends the acknowledged
    /// events, then reads the waiting ones. Without an event it waits, unless the receiver wants an immediate response.
    ///
    /// - Parameter reserve: claims memory for a number of bytes, before events are signed.
    /// - Throws: `Refusal` `not_found`; `rate_limited` if too many polls of the provider wait already, or too many
    ///   returned events within a minute; `provider_token_invalid` if the caller's key was revoked meanwhile.
    package func pollEvents(
        _ question: EventPoll, of id: EventStreamID, by caller: ProvenProvider,
        reserving reserve: @Sendable (Int) async throws -> Void = { _ in }
    ) async throws -> PolledEvents {
        let policy = policy[\.webhooks]
        guard let place = node.polls.enter([id], of: caller.id, limit: policy.waitingPolls) else {
            throw Refusal.tooManyPolls
        }
        defer { node.polls.leave(place) }
        let unknown = question.unreadable + (try await end(question, of: id, by: caller))
        let clock = ContinuousClock()
        let end = clock.now + .seconds(policy.pollWait)
        var isNoted = false
        while true {
            var (found, stream) = try await waitingEvents(question, id, caller, reserve)
            found.unknown = unknown
            if !isNoted { try await noteActivity(of: stream) }
            isNoted = true
            let rest = (end - clock.now) / .seconds(1)
            guard found.isEmpty, !question.isImmediate, rest > 0 else { return found }
            await place.wait(min(rest, wakeInterval))
            // A cancelled caller gets an empty response.
            if Task.isCancelled { return found }
        }
    }

    /// Some of the named events may have been ended by an earlier poll.
    ///
    /// - Returns: the ids that name no event of the stream.
    private func end(
        _ question: EventPoll, of id: EventStreamID, by caller: ProvenProvider
    ) async throws -> [String] {
        guard !question.received.isEmpty || !question.refused.isEmpty else { return [] }
        return try await write { transaction, events in
            // The caller may have delayed its body for as long as a request may take.
            try caller.requireActive(in: transaction)
            let stream = try EventStreamRepository(transaction).require(id, of: caller.id)
            let queue = StreamQueueRepository(transaction, of: stream.id)
            try queue.acknowledge(question.received)
            for (message, reason) in question.refused
            where try queue.refuse(message, because: "the receiver refused the event: \(reason)") {
                events.record(.messageDied(message, detail: "the receiver refused the event"), by: "service")
            }
            return try queue.unknown(among: question.received + question.refused.map(\.id)).map(\.description)
        }
    }

    private func waitingEvents(
        _ question: EventPoll, _ id: EventStreamID, _ caller: ProvenProvider,
        _ reserve: @Sendable (Int) async throws -> Void
    ) async throws -> (PolledEvents, EventStream) {
        let limit = min(question.maximum ?? .max, policy[\.webhooks].eventsPerPoll)
        let (waiting, stream) = try await read { transaction in
            // Checked each time, because a poll may wait until after its key was revoked.
            try caller.requireActive(in: transaction)
            let stream = try EventStreamRepository(transaction).require(id, of: caller.id)
            guard stream.settings.delivery == .poll else {
                throw Refusal.notPolled
            }
            guard stream.present.status != .paused else { return ([UnsignedEvent](), stream) }
            let messages = try StreamQueueRepository(transaction, of: id).waiting(limit: limit + 1)
            return (try messages.compactMap { try unsignedEvent($0, of: stream, in: transaction) }, stream)
        }
        if limit > 0, !waiting.isEmpty {
            try await reserve(min(limit, waiting.count) * PolledEvents.usualSize)
            try countSignatures(for: caller)
        }
        let tokens = try waiting.prefix(limit).map { ($0.token.identifier, try $0.signed()) }
        return (PolledEvents(tokens: tokens, hasMore: waiting.count > limit), stream)
    }

    /// The event of a message in a stream, pushed or polled; `nil` if it cannot be read.
    func unsignedEvent(
        _ message: OutboxMessage, of stream: EventStream, in transaction: any Transaction
    ) throws -> UnsignedEvent? {
        guard let (event, cause) = StreamEvent.parse(message.payload) else { return nil }
        var user: User?
        if case .happened = event {
            guard let found = try UserRepository(transaction).find(message.userID) else { return nil }
            user = found
        }
        let token = StreamEventToken(
            identifier: message.id.description, issuer: urls.issuer, stream: stream, event: event, user: user,
            happenedAt: message.createdAt, cause: cause)
        return UnsignedEvent(token: token, keys: keys.accessTokens)
    }
}
