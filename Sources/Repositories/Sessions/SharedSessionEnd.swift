import Database
import Domain
import Encoding
import Foundation

/// Ends a session by one shared statement.
///
/// It ends no session of a provider that is notified of ended sessions, because a transaction must write the security
/// events. Nor does it end one whose device has a push endpoint, which a transaction deletes too. It is safe under `READ COMMITTED`: a row ends once, and a concurrent bulk revocation ends the session too.
package struct SharedSessionEnd: Sendable {
    private let arguments: [Value]
}

package extension SharedSessionEnd {
    init(_ session: Session, _ why: SessionEnding) {
        arguments = [.id(session.id), .text(why.text), session.tokenHash.value]
    }

    /// Ends the session, with its entry in the change log; `nil` if it has ended, was renewed meanwhile, or must be
    /// ended by a transaction.
    ///
    /// - Throws: `StoreError`.
    func callAsFunction(in store: any Database) async throws -> EndedSession? {
        try await store.share(SharedStatement(Self.text, arguments)).first.map { row in
            let (id, tokenHash, userID, providerID) = try SessionRepository.ended.read(row)
            return EndedSession(id: id, tokenHash: tokenHash, userID: userID, providerID: providerID)
        }
    }

    private static let text = SharedText(
        row: 3, change: ChangeLog.Change.Kind.session.rawValue, key: "token_hash"
    ) { rows, now in
        """
        UPDATE sessions SET state = '\(SessionRepository.destroyed.to.rawValue)', challenged_at = NULL, ended_at = \(now),
            end_reason = given.column2
        FROM (\(rows)) AS given
        WHERE sessions.id = given.column1 AND sessions.token_hash = given.column3
            AND sessions.\(SessionRepository.isAllowed(SessionRepository.destroyed))
            AND \(GenerationRepository.isCurrent("sessions"))
            AND NOT EXISTS (SELECT 1 FROM provider_webhooks w WHERE w.provider_id = sessions.provider_id)
            AND NOT EXISTS (
                SELECT 1 FROM event_streams e WHERE e.provider_id = sessions.provider_id AND e.status <> 'disabled')
            AND sessions.has_endpoint = 0
            AND NOT EXISTS (
                SELECT 1 FROM push_endpoints p
                WHERE p.user_id = sessions.user_id AND p.device_id = sessions.device_id)
        RETURNING \(SessionRepository.ended)
        """
    }
}
