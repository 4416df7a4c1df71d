import Database
import Domain
import Encoding
import Foundation

/// Opens a session of a known user by one statement whose conditions are all part of the statement.
///
/// It is safe under `READ COMMITTED`. The row has the generations of the snapshot in which bans were checked, so a
/// concurrent bulk revocation ends it. The primary key refuses a nonce's second use.
package struct SessionOpening: Sendable {
    let arguments: [Value]
    private let draft: Session

    /// The statement in a given transaction, for its tests.
    func callAsFunction(in transaction: any Transaction) throws -> Opened? {
        try transaction.first(Self.statement("CAST($13 AS BIGINT)"), arguments + [.time(transaction.now)]).map(opened)
    }

    func opened(_ row: Row) throws -> Opened {
        let (_, id, now, assurance, until, createdAt, profileIndex) = try Self.answer.read(row)
        let user = User(
            id: id, providerID: draft.providerID, externalID: draft.externalID,
            assurance: AssuranceLevel(assurance, until: until).value(at: now), createdAt: createdAt,
            profileIndex: profileIndex)
        return Opened(session: Session(draft, of: user, at: now), user: user)
    }

    /// A row with the nonce's id is searched separately: finding it by the conflict would wait for a concurrent change
    /// of it.
    ///
    /// - Parameters:
    ///   - source: the source of the arguments, if they are not parameters.
    ///   - place: the position among the user's sessions on the device.
    ///   - order: the order of a batch.
    ///   - ended: the id of a session that this statement treats as ended.
    ///   - condition: a further condition.
    ///   - argument: an argument by its number.
    static func statement(
        _ now: String, of source: String? = nil, place: String = "1", in order: String = "",
        insteadOf ended: String? = nil, if condition: String = "1 = 1", _ argument: (Int) -> String = { "$\($0)" }
    ) -> String {
        """
        INSERT INTO sessions (
            id, token_hash, user_id, provider_id, external_id, application_id, device_id, thumbprint, provider_key_id,
            state, created_at, renewed_at, last_used_at, user_generation, device_generation, provider_generation,
            key_generation)
        SELECT \(argument(1)), \(argument(2)), u.id, p.id, u.external_id, \(argument(5)), d.id, c.thumbprint, k.id,
            \(argument(9)), \(now), \(now), \(now), u.generation, d.generation, p.generation, k.generation
        FROM \(source.map { "\($0) CROSS JOIN " } ?? "")provider_keys k
        JOIN providers p ON p.id = k.provider_id
        JOIN users u ON u.provider_id = k.provider_id AND u.external_id = \(argument(4))
        JOIN devices d ON d.id = \(argument(6))
        JOIN certificates c ON c.thumbprint = \(argument(7))
        WHERE k.id = \(argument(8)) AND k.provider_id = \(argument(3)) AND k.revoked_at IS NULL AND k.retired_at IS NULL
            AND p.disabled_at IS NULL AND u.held = 0 AND d.held = 0
            AND c.revoked_at IS NULL AND c.not_after > \(now)
            AND \(NonceRepository.isUnexpired("CAST(\(argument(12)) AS BIGINT)", at: now))
            AND \(NonceRepository.generation) = \(argument(11))
            AND (
                SELECT COUNT(*) FROM (
                    SELECT 1 FROM sessions s
                    WHERE s.user_id = u.id AND s.device_id = d.id AND s.state <> 'unauthenticated'
                        AND \(GenerationRepository.isCurrent("s"))\(ended.map { " AND s.id <> \($0)" } ?? "")
                    LIMIT \(argument(10))
                ) AS open
            ) + \(place) <= \(argument(10))
            AND (SELECT 1 FROM sessions spent WHERE spent.id = \(argument(1))) IS NULL AND \(condition)
        \(order)
        ON CONFLICT (id) DO NOTHING
        RETURNING \(answer)
        """
    }
}

package extension SessionOpening {
    /// - Parameters:
    ///   - draft: the new session. The store sets its user and its times.
    ///   - nonce: the session's id is derived from it.
    ///   - mostSessions: the maximum number of sessions of the user on the device.
    init(_ draft: Session, spending nonce: Nonce, mostSessions: Int) {
        self.draft = draft
        arguments =
            [
                .id(draft.id), draft.tokenHash.value, .id(draft.providerID), .text(draft.externalID),
                .id(draft.applicationID), .id(draft.deviceID), draft.thumbprint.value, .id(draft.providerKeyID),
                .text(draft.state.rawValue), mostSessions.value, .text(nonce.generation), .time(nonce.expiresAt),
            ]
    }

    struct Opened: Sendable, Equatable {
        package let session: Session
        package let user: User
    }

    /// Opens the session; `nil` if a condition fails or needs a closer check. Then a transaction finds the reason.
    ///
    /// - Throws: `StoreError`.
    func callAsFunction(in store: any Database) async throws -> Opened? {
        try await store.share(SharedStatement(Self.text, arguments)).first.map(opened)
    }

    private static func ofUser(_ column: String) -> String { "(SELECT u.\(column) FROM users u WHERE u.id = user_id)" }

    /// Matches a returned row to its request in a batch.
    private static let answer = ColumnTuple(
        Column<SessionID>("id"), Column<UserID>("user_id"), Column<Date>("created_at"),
        Column<Assurance>(ofUser("assurance")), Column<Date?>(ofUser("assurance_until")),
        Column<Date>(ofUser("created_at")), Column<Digest256?>(ofUser("profile_index")))
    private static let text = SharedText(
        row: 12, alone: { statement($0) },
        many: { rows, now in
            // Sessions of one user on one device in a batch count each other.
            let given = """
                (SELECT r.*, row_number() OVER (PARTITION BY column3, column4, column6) AS place FROM (\(rows)) AS r)
                AS given
                """
            // By id, so that transactions do not deadlock on each other's rows.
            let order = "ORDER BY given.column1 COLLATE \"C\""
            return statement(now, of: given, place: "given.place", in: order) { "given.column\($0)" }
        })
}
