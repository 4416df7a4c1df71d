import Database
import Domain
import Repositories

/// An admin requeues a dead letter with all its tries. The service sends it in its next round, within 30 seconds.
package struct RetryMessage: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Requeues a message.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it is not dead or has expired.
    package func callAsFunction(_ id: OutboxMessageID) async throws -> OutboxMessage {
        let actor = context.actor
        return try await context.commit { transaction, events in
            let records = OutboxRepository(transaction)
            let message = try records.require(id)
            guard message.state == .dead else {
                throw Refusal(
                    .conflict, "The message is \(message.state.rawValue): only dead ones are tried again.",
                    state: message.state.rawValue)
            }
            guard transaction.now < message.expiresAt else {
                throw Refusal(.conflict, "The message is past its time.", state: OutboxState.expired.rawValue)
            }
            try records.restart(id)
            events.record(.messageRetried(id), by: actor)
            return try records.find(id) ?? message
        }
    }
}

extension OutboxRepository {
    /// The message with an id.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ id: OutboxMessageID) throws -> OutboxMessage {
        guard let message = try find(id) else {
            throw Refusal(.notFound, "There is no message \(id) in the outbox.")
        }
        return message
    }
}
