import Database
import Domain
import Encoding

/// Opens a session and ends another one by one statement, for a user with the maximum number of sessions on the device.
///
/// It is not used for users of a provider that is notified of ended sessions, or on an engine with one writer: there a
/// transaction decides. A session that was renewed or ended meanwhile is not changed.
package struct SessionReplacement: Sendable {
    private let opening: SessionOpening
    private let old: Session
}

package extension SessionReplacement {
    init(_ opening: SessionOpening, insteadOf old: Session) { (self.opening, self.old) = (opening, old) }

    /// Opens one session and ends the other, with its entry in the change log; `nil` if a transaction must decide.
    ///
    /// - Throws: `StoreError`.
    func callAsFunction(in store: any Database) async throws -> SessionOpening.Opened? {
        let arguments = opening.arguments + [.id(old.id), old.tokenHash.value]
        let statement = SharedStatement(Self.text, arguments, changing: old.id.description)
        return try await store.share(statement).first.map(opening.opened)
    }

    private static let hasNoReceivers = """
        NOT EXISTS (SELECT 1 FROM provider_webhooks w WHERE w.provider_id = p.id)
        AND NOT EXISTS (SELECT 1 FROM event_streams e WHERE e.provider_id = p.id AND e.status <> 'disabled')
        """

    /// The end depends on the opening, so a spent nonce ends nothing.
    private static let text = SharedText(
        parameters: 14, change: ChangeLog.Change.Kind.session.rawValue,
        alone: "SELECT id FROM sessions WHERE id = $1 AND CAST($15 AS BIGINT) < 0"
    ) { number, tag, now in
        """
        WITH opened (id, user_id, opened_at, assurance, assurance_until, user_created_at, profile_index) AS (
            \(SessionOpening.statement(now, insteadOf: "$13", if: hasNoReceivers))
        ), ended AS (
            UPDATE sessions SET state = '\(SessionRepository.destroyed.to.rawValue)', challenged_at = NULL,
                ended_at = \(now), end_reason = '\(SessionEnding.superseded.text)'
            FROM opened
            WHERE sessions.id = $13 AND sessions.token_hash = $14 AND sessions.user_id = opened.user_id
                AND sessions.\(SessionRepository.isAllowed(SessionRepository.destroyed))
                AND \(GenerationRepository.isCurrent("sessions"))
            RETURNING sessions.token_hash
        ), noted AS (
            INSERT INTO change_log (n, tag, kind, key)
            SELECT \(number) + 1, \(tag) + 1, CAST(\(ChangeLog.Change.Kind.session.rawValue) AS SMALLINT),
                ended.token_hash
            FROM ended
        )
        SELECT * FROM opened
        """
    }
}
