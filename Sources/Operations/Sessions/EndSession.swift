import Database
import Domain
import Foundation
import Repositories

/// `DestroySession`, by the session's user.
package struct EndSession: Sendable {
    private let context: ServiceContext
    private let check: CheckSession

    package init(_ context: ServiceContext) {
        self.context = context
        check = CheckSession(context)
    }

    /// Ends the session whose token is shown; a challenged one too.
    package func current(_ sessionToken: String, on connection: ClientConnection) async throws {
        let (session, _) = try await check.bound(sessionToken, on: connection)
        try await context.commit { transaction, events in
            try Self.end(session, in: transaction, &events)
        }
        context.node.forget(session)
    }

    /// Ends another session of the same user.
    ///
    /// - Throws: `Refusal` `not_found` for what is not the user's own, too.
    package func other(_ id: String, by session: Session) async throws {
        guard let id = SessionID(id[...]) else { throw Self.unknown }
        try await SessionStore(context).act(for: session) { transaction, holder, events in
            guard let other = try SessionRepository(transaction).find(id), other.userID == holder.user.id,
                other.state != .unauthenticated
            else { throw Self.unknown }
            try Self.end(other, in: transaction, &events)
        }
    }

    private static let unknown = Refusal(.notFound, "The user has no such session.")

    private static func end(
        _ session: Session, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let ended = try SessionRepository(transaction).end(.session(session.id), at: transaction.now, .byUser)
        for session in ended { events.record(.sessionEnded(session, .byUser)) }
    }
}
