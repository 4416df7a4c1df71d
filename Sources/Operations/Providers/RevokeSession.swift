import Database
import Domain
import Repositories

/// A provider ends a session of its own user by its token (RFC 7009).
package struct RevokeSession: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// Ends it; a token that is unknown or another's is no error.
    package func callAsFunction(_ token: String, for caller: ProvenProvider) async throws {
        guard let session = try await context.ownSession(token, of: caller.id) else { return }
        try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            let ended = try SessionRepository(transaction).end(.session(session.id), at: transaction.now, .byProvider)
            for ended in ended {
                events.record(
                    .sessionEnded(ended, .byProvider), by: "provider \(caller.id)", because: "provider_logout")
            }
        }
        context.node.forget(session)
    }
}
