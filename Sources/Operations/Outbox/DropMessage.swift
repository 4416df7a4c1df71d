import Database
import Domain
import Repositories

/// An admin drops a message that waits or is dead.
package struct DropMessage: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Drops a message.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it was sent or has ended otherwise.
    package func callAsFunction(_ id: OutboxMessageID) async throws -> OutboxMessage {
        let actor = context.actor
        return try await context.commit { transaction, events in
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
    package func preview(_ id: OutboxMessageID) async throws -> OutboxMessage {
        try await context.store.snapshot { try Self.find(id, OutboxRepository($0)) }
    }

    private static func find(_ id: OutboxMessageID, _ records: OutboxRepository) throws -> OutboxMessage {
        let message = try records.require(id)
        guard message.state == .waiting || message.state == .dead else {
            throw Refusal(.conflict, "The message is \(message.state.rawValue).", state: message.state.rawValue)
        }
        return message
    }
}
