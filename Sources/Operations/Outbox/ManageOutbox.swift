import Database
import Domain
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
    /// - Parameter cursor: the id of the last message on the previous page.
    /// - Throws: `Refusal` `not_found` for a cursor that no longer exists.
    func listOutbox(
        _ state: OutboxState?, limit: Int, after cursor: String? = nil
    ) async throws -> [OutboxMessage] {
        try await read { try OutboxRepository($0).list(state, limit: limit, after: cursor) }
    }

    /// Requeues a dead letter with all its tries. The service sends it in its next round, within 30 seconds.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it is not dead or has expired.
    func retryMessage(_ id: OutboxMessageID) async throws -> OutboxMessage {
        return try await write { transaction, events in
            let records = OutboxRepository(transaction)
            let message = try records.require(id)
            guard message.state == .dead else {
                throw Refusal.notRetriable(message.state)
            }
            guard transaction.now < message.expiresAt else {
                throw Refusal.outboxMessageExpired
            }
            try records.restart(id)
            events.record(.messageRetried(id), by: actor)
            return try records.find(id) ?? message
        }
    }

    /// Drops a message that waits or is dead.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it was sent or has ended otherwise.
    func dropMessage(_ id: OutboxMessageID) async throws -> OutboxMessage {
        return try await write { transaction, events in
            let records = OutboxRepository(transaction)
            let message = try Self.find(id, records)
            try records.drop(id)
            events.record(.messageDropped(id), by: actor)
            return try records.find(id) ?? message
        }
    }

    /// The message that would be dropped. Nothing is changed.
    ///
    /// - Throws: as the change itself.
    func previewDrop(of id: OutboxMessageID) async throws -> OutboxMessage {
        try await read { try Self.find(id, OutboxRepository($0)) }
    }

    private static func find(_ id: OutboxMessageID, _ records: OutboxRepository) throws -> OutboxMessage {
        let message = try records.require(id)
        guard message.state == .waiting || message.state == .dead else {
            throw Refusal.notDroppable(message.state)
        }
        return message
    }
}
