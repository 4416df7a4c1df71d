import Database
import Domain
import Foundation

package extension AuthorizationRepository {
    /// Erases some authorizations of a user. For the other side, permissions and the user's own requests become cancelled.
    /// Requests to the user stay open, as if the user had never existed.
    ///
    /// - Returns: how many.
    @discardableResult
    func erase(_ user: UserID, at time: Date, limit: Int = 1000) throws -> Int {
        var ids: [String] = []
        for column in ["asker_id", "accepter_id"] where ids.count < limit {
            ids += try transaction.values(
                "SELECT id FROM authorizations WHERE \(column) = $1 LIMIT \(limit - ids.count)", [.id(user)])
        }
        let list = ids.map(\.value)
        for statement in Self.ending { try transaction.enqueue(statement, [.id(user), .time(time)], list: list) }
        for statement in Self.forgetting { try transaction.enqueue(statement, [.id(user)], list: list) }
        return ids.count
    }

    /// If a bulk revocation has ended the authorization, its state is kept.
    private static let ending =
        [
            "(asker_id = $1 OR accepter_id = $1) AND state = 'APPROVAL'",
            "asker_id = $1 AND is_delivered = 1 AND \(isOpen)",
        ].map { ends in
            ListStatement(after: 2) { list in
                """
                UPDATE authorizations SET state =
                    CASE \(PermissionRevocationRepository.state(of: "authorizations")) WHEN 'BANNED' THEN 'BANNED'
                    ELSE 'CANCELLED' END, changed_at = $2
                WHERE \(ends) AND id IN \(list.in)
                """
            }
        } + [
            ListStatement(after: 2) { list in
                """
                INSERT INTO authorization_rows (authorization_id, type, at)
                SELECT id, state, changed_at FROM authorizations
                WHERE (asker_id = $1 OR accepter_id = $1) AND changed_at = $2 AND state IN ('CANCELLED', 'BANNED')
                    AND id IN \(list.in)
                ON CONFLICT (authorization_id, type) DO NOTHING
                """
            }
        ]

    /// A request whose requester was erased before has no user left, and is deleted.
    private static let forgetting = [
        ListStatement(after: 1) { list in
            """
            UPDATE authorization_rows SET recipient_id = NULL, sent = NULL, message_id = NULL
            WHERE recipient_id = $1 AND authorization_id IN \(list.in)
            """
        },
        ListStatement(after: 1) { list in
            "DELETE FROM authorizations WHERE accepter_id = $1 AND asker_id IS NULL AND id IN \(list.in)"
        },
        ListStatement(after: 1) { list in
            """
            UPDATE authorizations SET accepter_id = NULL, is_delivered = 0 WHERE accepter_id = $1 AND id IN \(list.in)
            """
        },
        ListStatement(after: 1) { list in
            """
            DELETE FROM authorizations
            WHERE asker_id = $1 AND NOT (is_delivered = 1 AND state = 'CANCELLED') AND id IN \(list.in)
            """
        },
        ListStatement(after: 1) { list in
            """
            UPDATE authorizations SET asker_id = NULL, sealed_to = NULL, sealed_event = NULL
            WHERE asker_id = $1 AND id IN \(list.in)
            """
        },
    ]
}
