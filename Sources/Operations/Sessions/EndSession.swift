import Database
import Domain
import Foundation
import Repositories

package extension Service {
    /// `DestroySession`, by the session's user: ends the session of the token, also if it is challenged.
    func endSession(_ sessionToken: String, on connection: ClientConnection) async throws {
        let (session, _) = try await boundSession(sessionToken, on: connection)
        if try await !endAtOnce(session) {
            try await write { transaction, events in
                try Self.end(session, in: transaction, &events)
            }
        }
        node.forget(session)
    }

    /// Ends a session in one statement that shares a transaction with others; `false` if a separate transaction must
    /// decide.
    private func endAtOnce(_ session: Session) async throws -> Bool {
        do {
            let end = SharedSessionEnd(session, .byUser)
            return try await share {
                try await end(in: $0)
            } events: {
                [.sessionEnded($0, .byUser)]
            } != nil
        } catch let refusal as Refusal where refusal.reason == .outcomeUnknown {
            node.doubt()
            throw refusal
        } catch {
            return false
        }
    }

    /// Ends another session of the same user.
    ///
    /// - Throws: `Refusal` `not_found`, also for a session of another user.
    func endOtherSession(_ id: String, by session: Session) async throws {
        guard let id = SessionID(id[...]) else { throw Refusal.unknownOwnSession }
        try await act(for: session) { transaction, holder, events in
            guard let other = try SessionRepository(transaction).find(id), other.userID == holder.user.id,
                other.state != .unauthenticated
            else { throw Refusal.unknownOwnSession }
            try Self.end(other, in: transaction, &events)
        }
    }

    private static func end(
        _ session: Session, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let ended = try SessionRepository(transaction).end(.session(session.id), at: transaction.now, .byUser)
        for session in ended { events.record(.sessionEnded(session, .byUser)) }
    }
}
