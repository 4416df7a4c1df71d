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
        if try await !endAtOnce(session) {
            try await context.commit { transaction, events in
                try Self.end(session, in: transaction, &events)
            }
        }
        context.node.forget(session)
    }

    /// Ends a session in one statement, which others share a transaction with; `false` if a transaction of its own is to
    /// decide.
    private func endAtOnce(_ session: Session) async throws -> Bool {
        let mark = context.caches.sessions.mark
        let end = SharedSessionEnd(session, .byUser)
        do {
            guard let ended = try await end(in: context.store) else { return false }
            // All that `Consequence` says of a session that its user ended, if its provider is told of nothing.
            try await context.node.apply(Commit.Aftermath(changes: [.session(ended.tokenHash)]), since: mark)
            return true
        } catch StoreError.outcomeUnknown(let reason) {
            context.node.doubt()
            throw Refusal.outcomeUnknown(reason)
        } catch is StoreError {
            return false
        }
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
