import Database
import Domain
import Encoding
import Foundation

/// Requests to wallets, each answered at most once. The key for the answer is sealed under its user's key until then, and
/// so is an answer by redirect until its app redeems it.
package struct PresentationRepository {
    let transaction: any Transaction
}

package extension PresentationRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// A presentation with the key that opens its answer.
    struct Entry: Sendable {
        package let presentation: Presentation
        /// The private numbers of the two keys, sealed; `nil` after an answer.
        package let sealedKey: [UInt8]?
        /// The digest of the secret by which a wallet names the request; `nil` unless it is redirected.
        let requestHash: Digest256?
        /// The digest of the code with which the app redeems an answer, and the answer, sealed; `nil` in other states.
        package let codeHash: Digest256?
        package let sealedResult: [UInt8]?

        /// An entry of a new presentation.
        package init(presentation: Presentation, sealedKey: [UInt8]?, requestHash: Digest256? = nil) {
            self.init(presentation, sealedKey, requestHash, codeHash: nil, sealedResult: nil)
        }

        fileprivate init(
            _ presentation: Presentation, _ sealedKey: [UInt8]?, _ requestHash: Digest256?, codeHash: Digest256?,
            sealedResult: [UInt8]?
        ) {
            self.presentation = presentation
            self.sealedKey = sealedKey
            self.requestHash = requestHash
            self.codeHash = codeHash
            self.sealedResult = sealedResult
        }
    }

    internal static let columns = Table<Entry>(
        "presentations",
        {
            id, user, device, session, channel, wanted, state, nonce, sealedKey, origin, requestHash, codeHash, result,
            reason, attempts, createdAt, expiresAt in
            Entry(
                Presentation(
                    id: id, userID: user, deviceID: device, sessionID: session, channel: channel, wanted: wanted,
                    state: state, nonce: nonce, origin: origin, reason: reason, attempts: attempts,
                    createdAt: createdAt, expiresAt: expiresAt),
                sealedKey, requestHash, codeHash: codeHash, sealedResult: result)
        },
        Field("id", \.presentation.id),
        Field("user_id", \.presentation.userID),
        Field("device_id", \.presentation.deviceID),
        Field("session_id", \.presentation.sessionID),
        Field("channel", \.presentation.channel),
        Field("wanted", \.presentation.wanted),
        Field("state", \.presentation.state),
        Field("nonce", \.presentation.nonce),
        Field(.presentationKey, \.sealedKey),
        Field("origin", \.presentation.origin),
        Field("request_hash", \.requestHash),
        Field("response_code_hash", \.codeHash),
        Field(.presentationResult, \.sealedResult),
        Field("reason", \.presentation.reason),
        Field("attempts", \.presentation.attempts),
        Field("created_at", \.presentation.createdAt),
        Field("expires_at", \.presentation.expiresAt))

    /// The session that began a presentation. Nobody else may see or answer it.
    internal static let ofSession = "id = $1 AND user_id = $2 AND device_id = $3 AND session_id = $4"

    internal static func place(_ id: PresentationID, _ session: Session) -> [Value] {
        [.id(id), .id(session.userID), .id(session.deviceID), .id(session.id)]
    }

    func insert(_ entry: Entry) throws {
        try transaction.execute(Self.columns.insertion, Self.columns.row(entry))
    }

    /// A presentation that a session began; `nil` if there is none.
    func find(_ id: PresentationID, of session: Session) throws -> Entry? {
        try transaction.first(Self.columns, "WHERE \(Self.ofSession)", Self.place(id, session))
    }

    /// Counts an answer, and returns the presentation with this answer included; `nil` if the session began none. The
    /// row stays locked until the transaction ends, so concurrent answers are counted in turn.
    func countAttempt(_ id: PresentationID, of session: Session) throws -> Entry? {
        try transaction.first(
            """
            UPDATE presentations SET attempts = attempts + 1 WHERE \(Self.ofSession)
            RETURNING \(Self.columns)
            """, Self.place(id, session)
        ).map(Self.columns.read)
    }

    /// Ends a presentation by its answer, and deletes the key and the answer.
    ///
    /// - Parameter former: its state before.
    /// - Returns: `false` if it was answered or redeemed, or has expired meanwhile.
    func end(
        _ id: PresentationID, of session: Session, from former: Presentation.State, _ state: Presentation.State,
        reason: String?
    ) throws -> Bool {
        try transaction.execute(
            """
            UPDATE presentations SET state = $5, reason = $6, \(Self.emptied)
            WHERE \(Self.ofSession) AND state = $7 AND expires_at > $8
            """, Self.place(id, session) + [state.value, reason.value, former.value, .time(transaction.now)]) > 0
    }

    internal static let emptied = "sealed_key = NULL, sealed_result = NULL, response_code_hash = NULL"

    /// Deletes a presentation, whatever its state; `false` if the session began none.
    func delete(_ id: PresentationID, of session: Session) throws -> Bool {
        try transaction.execute("DELETE FROM presentations WHERE \(Self.ofSession)", Self.place(id, session)) > 0
    }

    /// When the open presentations of a user expire, the next one first.
    func expiriesOfOpen(of user: UserID) throws -> [Date] {
        try transaction.values(
            """
            SELECT expires_at FROM presentations WHERE user_id = $1 AND state = 'open' AND expires_at > $2
            ORDER BY expires_at
            """, [.id(user), .time(transaction.now)])
    }

    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM presentations WHERE user_id = $1", [.id(user)])
    }

    private static let old = AgedRows(of: "presentations", key: "id", age: "expires_at")

    /// Deletes the presentations that expired before a time.
    @discardableResult
    func purge(
        expiredBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }
}

extension Presentation.Channel: ColumnContent {}
extension Presentation.Wanted: ColumnContent {}
extension Presentation.State: ColumnContent {}
