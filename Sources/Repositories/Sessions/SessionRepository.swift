import Database
import Domain
import Encoding
import Foundation

/// Sessions. The store contains the hash of a token, never the token.
///
/// Every method treats a session that a bulk revocation has ended as ended, whether or not its row is updated yet.
package struct SessionRepository {
    let transaction: any Transaction

    /// The stored state, or ended if a bulk revocation has ended the session.
    static let columns = Table<Session>(
        "sessions", Session.init,
        Field("id", \.id),
        Field("token_hash", \.tokenHash),
        Field("user_id", \.userID),
        Field("provider_id", \.providerID),
        Field("external_id", \.externalID),
        Field("application_id", \.applicationID),
        Field("device_id", \.deviceID),
        Field("thumbprint", \.thumbprint),
        Field("provider_key_id", \.providerKeyID),
        Field("state", \.state, readAs: state(of:)),
        Field("created_at", \.createdAt),
        Field("renewed_at", \.renewedAt),
        Field("last_used_at", \.lastUsedAt),
        Field("challenged_at", \.challengedAt))

    static let ended = ColumnTuple(
        Column<SessionID>("id"), Column<Digest256>("token_hash"), Column<UserID>("user_id"),
        Column<ProviderID>("provider_id"))

    /// Inserts an ended session that spends a nonce; `false` if the nonce was spent already.
    func insertEnded(_ session: Session) throws -> Bool {
        try transaction.execute("\(Self.endedInsertion) ON CONFLICT (id) DO NOTHING", Self.values(ofEnded: session)) > 0
    }

    static let destroyed = SessionTransition.destroyedByService

    /// The condition in the form of the table's indexes, in which all states except one are written as `<>`.
    static func isAllowed(_ transition: SessionTransition) -> String {
        let others = Session.State.allCases.filter { !transition.from.contains($0) }
        if others.count == 1 { return "state <> '\(others[0].rawValue)'" }
        return "state IN (\(transition.from.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
    }
}

package extension SessionRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static func state(of table: String) -> String {
        let ended = Session.State.unauthenticated.rawValue
        return "CASE WHEN \(GenerationRepository.isCurrent(table)) THEN \(table).state ELSE '\(ended)' END"
    }

    private static let insertion = columns.insertion(
        with: "user_generation", "device_generation", "provider_generation", "key_generation")
    private static let endedInsertion = columns.insertion(
        with: "user_generation", "device_generation", "provider_generation", "key_generation", "ended_at", "end_reason")
    static let isOpen = isOpen(of: "sessions")

    /// - Parameter table: the statement's name for `sessions`.
    static func isOpen(of table: String) -> String {
        "\(table).state <> 'unauthenticated' AND \(GenerationRepository.isCurrent(table))"
    }

    /// Inserts a new session.
    ///
    /// - Parameter generations: the generations that the sign-in read together with the bans.
    func insert(_ session: Session, at generations: SessionGenerations) throws {
        try transaction.enqueue(Self.insertion, Self.columns.row(session) + Self.values(of: generations))
    }

    /// Enqueues the insertion of an ended session that spends a nonce. If the nonce was spent already, the body fails
    /// with `StoreError.constraint` `unique`.
    func enqueueEnded(_ session: Session) throws {
        try transaction.enqueue(Self.endedInsertion, Self.values(ofEnded: session))
    }

    private static func values(ofEnded session: Session) -> [Value] {
        columns.row(session) + values(of: .first) + [.time(session.createdAt), .text(GenerationRepository.spentNonce)]
    }

    private static func values(of generations: SessionGenerations) -> [Value] {
        [generations.user.value, generations.device.value, generations.provider.value, generations.key.value]
    }

    /// The session with an id, if its token has this hash, including an ended one.
    func find(_ id: SessionID, tokenHash: Digest256) throws -> Session? {
        guard let named = try find(id), constantTimeEqual(named.tokenHash.bytes, tokenHash.bytes) else { return nil }
        return named
    }

    /// The session with an id, including an ended one.
    func find(_ id: SessionID) throws -> Session? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// The open session with an id and this hash. The read is part of the transaction's durable commit.
    func confirm(_ id: SessionID, tokenHash: Digest256) throws -> Session? {
        try transaction.first(
            """
            UPDATE sessions SET last_used_at = last_used_at WHERE id = $1 AND token_hash = $2 AND \(Self.isOpen)
            RETURNING \(Self.columns)
            """, [.id(id), tokenHash.value]
        ).map(Self.columns.read)
    }

    /// The sessions in scope that were not ended, oldest first, including expired ones.
    func listOpen(_ scope: SessionScope) throws -> [Session] {
        let (condition, value) = scope.condition
        return try transaction.query(
            Self.columns, "WHERE \(condition) AND \(Self.isOpen) ORDER BY created_at, id", [value])
    }

    /// The devices with a present or past session of a user.
    func devices(of userID: UserID) throws -> [DeviceID] {
        try transaction.values(
            """
            SELECT DISTINCT s.device_id FROM sessions s WHERE s.user_id = $1 AND \(GenerationRepository.wasOpened("s"))
            ORDER BY s.device_id
            """, [.id(userID)])
    }

    /// Users with an open session on a device, and their providers, by user id.
    func users(on device: DeviceID, limit: Int) throws -> [(user: UserID, provider: ProviderID)] {
        let columns = ColumnTuple(Column<UserID>("user_id"), Column<ProviderID>("provider_id"))
        let rows = try transaction.query(
            """
            SELECT DISTINCT \(columns) FROM sessions WHERE device_id = $1 AND \(Self.isOpen) ORDER BY user_id LIMIT $2
            """, [.id(device), limit.value])
        return try rows.map { row in
            let (user, provider) = try columns.read(row)
            return (user, provider)
        }
    }

    /// Ends the sessions in scope that the state machine allows to end. The end of a single session deletes the push
    /// endpoint of its user on its device, unless another session takes its place or has registered it too.
    ///
    /// - Parameter limit: the maximum number.
    /// - Returns: the sessions that were ended.
    @discardableResult
    func end(
        _ scope: SessionScope, at time: Date, _ why: SessionEnding, limit: Int = .max
    ) throws -> [EndedSession] {
        let (condition, value) = scope.condition
        if case .session(let id) = scope, why != .superseded { try deletePushEndpoint(of: id) }
        return try end(
            """
            SELECT id FROM sessions
            WHERE \(condition) AND \(Self.isAllowed(Self.destroyed)) AND \(GenerationRepository.isCurrent("sessions"))
            LIMIT \(limit)
            """, [value], at: time, why)
    }

    /// Updates some rows of sessions that a bulk revocation has ended; empty if none is left.
    ///
    /// - Parameter limit: the maximum number. It is part of the text: for an unknown one a planner assumes a tenth of
    ///   the table and scans all of it.
    func end(_ cut: BulkRevocation, limit: Int) throws -> [EndedSession] {
        for scope in try behind(cut.scope) {
            // In the order of an index, so that the scan reads only the rows to end.
            let ended = try end(
                """
                SELECT id FROM sessions WHERE \(scope.condition) AND \(scope.generation) < $2
                    AND \(Self.isAllowed(Self.destroyed)) ORDER BY \(scope.order) LIMIT \(limit)
                """, [scope.id, .integer(cut.generation)], at: cut.at, cut.why)
            if !ended.isEmpty { return ended }
        }
        return []
    }

    /// Ends every session of a restored store, including those that a bulk revocation has ended.
    ///
    /// - Returns: the number of ended rows.
    func endAllAfterRestore(at time: Date) throws -> Int {
        try transaction.execute(
            """
            UPDATE sessions SET state = '\(Self.destroyed.to.rawValue)', challenged_at = NULL, ended_at = $1,
                end_reason = 'the store was restored'
            WHERE \(Self.isAllowed(Self.destroyed))
            """, [.time(time)])
    }

    private func end(
        _ selection: String, _ arguments: [Value], at time: Date, _ why: SessionEnding
    ) throws -> [EndedSession] {
        let next = arguments.count + 1
        return try transaction.query(
            """
            UPDATE sessions SET state = '\(Self.destroyed.to.rawValue)', challenged_at = NULL, ended_at = $\(next),
                end_reason = $\(next + 1)
            WHERE id IN (\(selection)) AND \(Self.isAllowed(Self.destroyed))
            RETURNING \(Self.ended)
            """, arguments + [.time(time), .text(why.text)]
        ).map { row in
            let (id, tokenHash, userID, providerID) = try Self.ended.read(row)
            return EndedSession(id: id, tokenHash: tokenHash, userID: userID, providerID: providerID)
        }
    }

    /// The number of open sessions in scope, among at most this number of its newest generation.
    func countOpen(_ scope: RevocationScope, limit: Int) throws -> Int {
        let scopes = try behind(scope)
        let counts = try transaction.joined { transaction in
            try scopes.map { scope in
                try transaction.value(
                    """
                    SELECT COUNT(*) FROM (
                        SELECT * FROM sessions WHERE \(scope.condition) AND state <> 'unauthenticated'
                        ORDER BY \(scope.order) DESC LIMIT \(limit)
                    ) AS newest WHERE \(GenerationRepository.isCurrent("newest"))
                    """, [scope.id], as: Int.self) ?? 0
            }
        }
        return counts.reduce(0) { min(limit, $0 + $1) }
    }

    /// A scope's open sessions by an index. Those of a provider are found by its keys.
    private struct Indexed {
        let condition: String
        let id: Value
        let generation: String
        let order: String
    }

    private func behind(_ scope: RevocationScope) throws -> [Indexed] {
        func byKey(_ id: ProviderKeyID, _ generation: String) -> Indexed {
            Indexed(
                condition: "provider_key_id = $1", id: .id(id), generation: generation, order: "provider_generation")
        }
        switch scope {
        case .user(let id):
            return [Indexed(condition: "user_id = $1", id: .id(id), generation: "user_generation", order: "device_id")]
        case .device(let id):
            return [
                Indexed(condition: "device_id = $1", id: .id(id), generation: "device_generation", order: "device_id")
            ]
        case .provider(let id):
            return try ProviderKeyRepository(transaction).list(of: id).map { byKey($0.id, "provider_generation") }
        case .providerKey(let id): return [byKey(id, "key_generation")]
        }
    }

    /// Challenges the sessions in scope that the state machine allows the service to challenge; returns how many.
    @discardableResult
    func challenge(_ scope: SessionScope, at time: Date) throws -> Int {
        let (condition, value) = scope.condition
        return try transaction.execute(
            """
            UPDATE sessions SET state = '\(Self.challenged.to.rawValue)', challenged_at = $2
            WHERE \(condition) AND \(Self.isAllowed(Self.challenged)) AND \(GenerationRepository.isCurrent("sessions"))
            """, [value, .time(time)])
    }
    private static let challenged = SessionTransition.challengedByService

    /// Renews a session: a new token and new times under the same id. `false` if another request has renewed or ended
    /// it since it was read.
    ///
    /// - Parameter keyGeneration: the generation of the key that signed for the renewal.
    func renew(
        _ session: Session, replacing oldTokenHash: Digest256, at keyGeneration: Int64
    ) throws -> Bool {
        try transaction.execute(
            """
            UPDATE sessions SET token_hash = $2, thumbprint = $3, provider_key_id = $4, state = $7,
                renewed_at = $5, last_used_at = $5, challenged_at = NULL, key_generation = $8
            WHERE id = $1 AND token_hash = $6 AND \(Self.isOpen)
            """,
            [
                .id(session.id), session.tokenHash.value, session.thumbprint.value, .id(session.providerKeyID),
                .time(session.renewedAt), oldTokenHash.value, .text(session.state.rawValue),
                .integer(keyGeneration),
            ]) > 0
    }

    /// Moves a device's sessions to a renewed certificate.
    func rebind(deviceID: DeviceID, to thumbprint: Digest256) throws {
        try transaction.execute(
            "UPDATE sessions SET thumbprint = $2 WHERE device_id = $1 AND state <> 'unauthenticated'",
            [.id(deviceID), thumbprint.value])
    }
}

extension SessionScope {
    var condition: (sql: String, value: Value) {
        switch self {
        case .session(let id): ("id = $1", .id(id))
        case .user(let id): ("user_id = $1", .id(id))
        case .device(let id): ("device_id = $1", .id(id))
        }
    }
}
