import Database
import Domain
import Foundation
import Repositories

/// What admins see of the outbox, and do to it, from the command line.
package struct AdministerOutbox: Sendable {
    private let store: any Database
    private let environment: Environment
    private let actor: String

    /// Works on a store in an admin's name.
    package init(store: any Database, environment: Environment, actor: String) {
        self.store = store
        self.environment = environment
        self.actor = actor
    }

    /// The newest messages, of one state or of all.
    package func list(_ state: OutboxState?, limit: Int) async throws -> [OutboxMessage] {
        try await store.snapshot { try OutboxRepository($0).list(state, limit: limit) }
    }

    /// Gives a dead letter its tries anew. The service takes it at its next round, within 30 seconds.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` where it is not dead or past its time.
    package func retry(_ id: OutboxMessageID) async throws -> OutboxMessage {
        try await change(id, .outboxMessageRetried) { message, records, now in
            guard message.state == .dead else {
                throw Refusal(
                    .conflict, "The message is \(message.state.rawValue): only dead ones are tried again.",
                    state: message.state.rawValue)
            }
            guard now < message.expiresAt else {
                throw Refusal(.conflict, "The message is past its time.", state: OutboxState.expired.rawValue)
            }
            try records.restart(id)
        }
    }

    /// Takes a message out that waits or is dead.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` where it was sent or ended otherwise.
    package func drop(_ id: OutboxMessageID) async throws -> OutboxMessage {
        try await change(id, .outboxMessageDropped) { message, records, _ in
            guard message.state == .waiting || message.state == .dead else {
                throw Refusal(
                    .conflict, "The message is \(message.state.rawValue).", state: message.state.rawValue)
            }
            try records.drop(id)
        }
    }

    private func change(
        _ id: OutboxMessageID, _ event: AuditRepository.Event,
        _ act: @escaping @Sendable (OutboxMessage, OutboxRepository, Date) throws -> Void
    ) async throws -> OutboxMessage {
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let records = OutboxRepository(transaction)
            guard let message = try records.find(id) else {
                throw Refusal(.notFound, "There is no message \(id) in the outbox.")
            }
            try act(message, records, transaction.now)
            try AuditRepository(transaction).append(event, subject: "message \(id)", actor: actor, id: auditID)
            return try records.find(id) ?? message
        }
    }
}
