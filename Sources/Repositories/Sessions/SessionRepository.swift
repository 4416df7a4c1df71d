import Database
import Domain
import Encoding
import Foundation

/// Sessions. The store holds the hash of a token, never the token.
package struct SessionRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    static let columnNames = [
        "id", "token_hash", "user_id", "provider_id", "external_id", "application_id", "device_id", "thumbprint",
        "provider_key_id", "state", "created_at", "renewed_at", "last_used_at", "challenged_at",
    ]
    private static let columns = columnNames.joined(separator: ", ")

    /// Which sessions a change is about.
    package enum Scope: Sendable {
        case session(SessionID)
        case user(UserID)
        case device(DeviceID)
        case provider(ProviderID)
        case providerKey(ProviderKeyID)

        var condition: (sql: String, value: Value) {
            switch self {
            case .session(let id): ("id = $1", .id(id))
            case .user(let id): ("user_id = $1", .id(id))
            case .device(let id): ("device_id = $1", .id(id))
            case .provider(let id): ("provider_id = $1", .id(id))
            case .providerKey(let id): ("provider_key_id = $1", .id(id))
            }
        }
    }

    package func insert(_ session: Session) throws {
        try transaction.enqueue(
            """
            INSERT INTO sessions (\(Self.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            """,
            [
                .id(session.id), .bytes(session.tokenHash.bytes), .id(session.userID), .id(session.providerID),
                .text(session.externalID), .id(session.applicationID), .id(session.deviceID),
                .bytes(session.thumbprint.bytes), .id(session.providerKeyID), .text(session.state.rawValue),
                .time(session.createdAt), .time(session.renewedAt), .time(session.lastUsedAt),
                .time(session.challengedAt),
            ])
    }

    /// The session whose token has this hash, ended ones too.
    package func find(tokenHash: Digest256) throws -> Session? {
        try transaction.first(
            "SELECT \(Self.columns) FROM sessions WHERE token_hash = $1", [.bytes(tokenHash.bytes)]
        ).map(Self.session)
    }

    /// The session with an id, ended ones too.
    package func find(_ id: SessionID) throws -> Session? {
        try transaction.first("SELECT \(Self.columns) FROM sessions WHERE id = $1", [.id(id)]).map(Self.session)
    }

    /// The sessions in scope that were not ended, oldest first; the clock may have ended some.
    package func listOpen(_ scope: Scope) throws -> [Session] {
        let (condition, value) = scope.condition
        return try transaction.query(
            """
            SELECT \(Self.columns) FROM sessions WHERE \(condition) AND state <> 'unauthenticated'
            ORDER BY created_at, id
            """, [value]
        ).map(Self.session)
    }

    /// The devices on which a user has a session, or had one that is not forgotten yet.
    package func devices(of userID: UserID) throws -> [DeviceID] {
        try transaction.query(
            "SELECT DISTINCT device_id FROM sessions WHERE user_id = $1 ORDER BY device_id", [.id(userID)]
        ).map { try $0.id(0) }
    }

    /// The newest sessions that were not ended.
    package func listOpen(limit: Int) throws -> [Session] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM sessions WHERE state <> 'unauthenticated'
            ORDER BY created_at DESC, id LIMIT $1
            """, [.integer(Int64(limit))]
        ).map(Self.session)
    }

    /// Ends the sessions in scope, and tells their providers; how many there were.
    @discardableResult
    package func end(_ scope: Scope, at time: Date, reason: String) throws -> Int {
        let (condition, value) = scope.condition
        let ended = try transaction.query(
            """
            UPDATE sessions SET state = 'unauthenticated', challenged_at = NULL, ended_at = $2, end_reason = $3
            WHERE \(condition) AND state <> 'unauthenticated'
            RETURNING id, user_id, provider_id
            """, [value, .time(time), .text(reason)])
        let webhooks = ProviderWebhookRepository(transaction)
        for row in ended {
            try webhooks.tell(.sessionRevoked(try row.id(0)), of: try row.id(1), to: try row.id(2))
        }
        return ended.count
    }

    /// Challenges the authenticated sessions in scope; how many there were.
    @discardableResult
    package func challenge(_ scope: Scope, at time: Date) throws -> Int {
        let (condition, value) = scope.condition
        return try transaction.execute(
            "UPDATE sessions SET state = 'challenged', challenged_at = $2 WHERE \(condition) AND state = 'authenticated'",
            [value, .time(time)])
    }

    /// Renews a session: a new token and new clocks under the same id. `false` where it is not as it was read, because
    /// another request renewed or ended it.
    package func renew(_ session: Session, replacing oldTokenHash: Digest256) throws -> Bool {
        try transaction.execute(
            """
            UPDATE sessions SET token_hash = $2, thumbprint = $3, provider_key_id = $4, state = 'authenticated',
                renewed_at = $5, last_used_at = $5, challenged_at = NULL
            WHERE id = $1 AND token_hash = $6 AND state <> 'unauthenticated'
            """,
            [
                .id(session.id), .bytes(session.tokenHash.bytes), .bytes(session.thumbprint.bytes),
                .id(session.providerKeyID), .time(session.renewedAt), .bytes(oldTokenHash.bytes),
            ]) > 0
    }

    /// Writes that a session was used.
    package func recordUse(_ id: SessionID, at time: Date) throws {
        try transaction.execute(
            "UPDATE sessions SET last_used_at = $2 WHERE id = $1 AND state = 'authenticated' AND last_used_at < $2",
            [.id(id), .time(time)])
    }

    /// Moves a device's sessions to the certificate that renews theirs.
    package func rebind(deviceID: DeviceID, to thumbprint: Digest256) throws {
        try transaction.execute(
            "UPDATE sessions SET thumbprint = $2 WHERE device_id = $1 AND state <> 'unauthenticated'",
            [.id(deviceID), .bytes(thumbprint.bytes)])
    }

    /// Forgets sessions that ended, or that no clock can keep alive any more, before a moment.
    package func purge(before moment: Date) throws {
        try transaction.execute(
            "DELETE FROM sessions WHERE ended_at < $1 OR (renewed_at < $1 AND COALESCE(challenged_at, 0) < $1)",
            [.time(moment)])
    }

    private static func session(_ row: Row) throws -> Session { try session(row, from: 0) }

    /// The session whose columns begin at a place.
    static func session(_ row: Row, from first: Int) throws -> Session {
        Session(
            id: try row.id(first), tokenHash: try row.digest(first + 1), userID: try row.id(first + 2),
            providerID: try row.id(first + 3), externalID: try row.text(first + 4),
            applicationID: try row.id(first + 5), deviceID: try row.id(first + 6),
            thumbprint: try row.digest(first + 7), providerKeyID: try row.id(first + 8),
            state: try row.word(first + 9), createdAt: try row.time(first + 10), renewedAt: try row.time(first + 11),
            lastUsedAt: try row.time(first + 12), challengedAt: try row.timeOrNull(first + 13))
    }
}
