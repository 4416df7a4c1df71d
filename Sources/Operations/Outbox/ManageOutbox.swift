import Database
import Domain
import Foundation
import Repositories

extension OutboxRepository {
    /// The message with an id.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ id: OutboxMessageID) throws -> OutboxMessage {
        guard let message = try find(id) else {
            throw Refusal.unknownOutboxMessage(id)
        }
        return message
    }
}

package extension Administration {
    /// The newest messages, of one state or of all.
    ///
    /// - Parameters:
    ///   - user: the user that they are about, by id or address; `nil` for all users.
    ///   - cursor: the id of the last message on the previous page.
    /// - Throws: `Refusal` `not_found` for a user, or for a cursor that no longer exists.
    func listOutbox(
        _ state: OutboxMessage.State?, of user: String? = nil, limit: Int, after cursor: String? = nil
    ) async throws -> [OutboxMessage] {
        try await read(.manage) { transaction in
            let user = try user.map { try UserSummary.find($0, in: transaction).user.id }
            return try OutboxRepository(transaction).list(state, of: user, limit: limit, after: cursor)
        }
    }

    /// The number of dead messages that `retryDeadMessages(of:)` would requeue, counted up to one more than
    /// `BoundedCount/most`. Nothing is changed.
    ///
    /// - Throws: `Refusal` `not_found` for a user.
    func previewRetry(of user: String? = nil) async throws -> Int {
        try await read(.manage) { transaction in
            let user = try user.map { try UserSummary.find($0, in: transaction).user.id }
            return try OutboxRepository(transaction).countRetriable(of: user)
        }
    }

    /// Requeues every dead message that has not expired, with all its tries, in transactions of 200.
    ///
    /// - Parameter name: the user that they are about, by id or address; `nil` for all users.
    /// - Returns: the number of messages.
    /// - Throws: `Refusal` `not_found` for a user.
    func retryDeadMessages(of name: String? = nil, reason: AuditReason? = nil) async throws -> Int {
        // Each page starts after the last message of the page before. So a message that dies again meanwhile is left
        // for the next command, and the older ones have their turn.
        var last: OutboxRepository.Retriable?
        var retried = 0
        while true {
            let found = try await write(.manage) { [last] transaction, events in
                let records = OutboxRepository(transaction)
                let user = try name.map { try UserSummary.find($0, in: transaction).user.id }
                let found = try records.listRetriable(of: user, limit: 200, after: last)
                for message in found {
                    try records.restart(message.id)
                    events.record(.messageRetried(message.id), by: actor, because: reason)
                }
                return found
            }
            guard let end = found.last else { break }
            last = end
            retried += found.count
        }
        return retried
    }

    /// Requeues a dead letter with all its tries. The service sends it in its next round, within 30 seconds.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it is not dead or has expired.
    func retryMessage(_ id: OutboxMessageID, reason: AuditReason? = nil) async throws -> OutboxMessage {
        return try await write(.manage) { transaction, events in
            let records = OutboxRepository(transaction)
            let message = try Self.retriable(id, records, at: transaction.now)
            try records.restart(id)
            events.record(.messageRetried(id), by: actor, because: reason)
            return try records.find(id) ?? message
        }
    }

    /// The message that would be requeued. Nothing is changed.
    ///
    /// - Throws: as `retryMessage(_:)`.
    func previewRetry(of id: OutboxMessageID) async throws -> OutboxMessage {
        try await read(.manage) { try Self.retriable(id, OutboxRepository($0), at: $0.now) }
    }

    private static func retriable(
        _ id: OutboxMessageID, _ records: OutboxRepository, at now: Date
    ) throws -> OutboxMessage {
        let message = try records.require(id)
        guard message.state == .dead else { throw Refusal.notRetriable(message.state) }
        guard now < message.expiresAt else { throw Refusal.outboxMessageExpired }
        return message
    }

    /// Drops a message that waits or is dead.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it was sent or has ended otherwise.
    func dropMessage(_ id: OutboxMessageID, reason: AuditReason? = nil) async throws -> OutboxMessage {
        return try await write(.manage) { transaction, events in
            let records = OutboxRepository(transaction)
            let message = try Self.find(id, records)
            try records.drop(id)
            events.record(.messageDropped(id), by: actor, because: reason)
            return try records.find(id) ?? message
        }
    }

    /// The message that would be dropped. Nothing is changed.
    ///
    /// - Throws: as the change itself.
    func previewDrop(of id: OutboxMessageID) async throws -> OutboxMessage {
        try await read(.manage) { try Self.find(id, OutboxRepository($0)) }
    }

    private static func find(_ id: OutboxMessageID, _ records: OutboxRepository) throws -> OutboxMessage {
        let message = try records.require(id)
        guard message.state == .waiting || message.state == .dead else {
            throw Refusal.notDroppable(message.state)
        }
        return message
    }
}
