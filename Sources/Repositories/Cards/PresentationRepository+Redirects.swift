import Database
import Domain
import Encoding
import Foundation

/// Requests that a wallet on the same device fetches and answers by itself. It has no session, and names a request by a
/// secret, of which only the digest is stored.
package extension PresentationRepository {
    /// The request with a secret; `nil` if there is none.
    func find(request: Digest256) throws -> Entry? {
        try transaction.first(Self.columns, "WHERE request_hash = $1", [.bytes(request.bytes)])
    }

    /// Counts an answer, and returns the presentation with this answer included; `nil` if no request has the secret.
    func countAttempt(request: Digest256) throws -> Entry? {
        try transaction.first(
            """
            UPDATE presentations SET attempts = attempts + 1 WHERE request_hash = $1
            RETURNING \(Self.columns)
            """, [.bytes(request.bytes)]
        ).map(Self.columns.read)
    }

    /// Keeps a verified answer until its app redeems it, and deletes the key.
    ///
    /// - Parameter code: the digest of the code with which the app redeems it.
    /// - Returns: `false` if another answer was faster, or the request has expired.
    func receive(
        _ id: PresentationID, sealedResult: [UInt8], code: Digest256, until end: Date
    ) throws -> Bool {
        try transaction.execute(
            """
            UPDATE presentations
            SET state = 'received', sealed_key = NULL, sealed_result = $2, response_code_hash = $3, expires_at = $4
            WHERE id = $1 AND state = 'open' AND expires_at > $5
            """, [.id(id), .bytes(sealedResult), .bytes(code.bytes), .time(end), .time(transaction.now)]) > 0
    }

    /// Ends a request whose answer is refused at its arrival.
    ///
    /// - Returns: `false` if another answer was faster, or the request has expired.
    func refuse(_ id: PresentationID, reason: String) throws -> Bool {
        try transaction.execute(
            """
            UPDATE presentations SET state = 'refused', reason = $2, sealed_key = NULL
            WHERE id = $1 AND state = 'open' AND expires_at > $3
            """, [.id(id), .text(reason), .time(transaction.now)]) > 0
    }

    /// Discards an answer whose code was shown for another presentation, or by another session. Somebody was sent to an
    /// app that did not ask for it.
    ///
    /// - Returns: whether there was one.
    func discard(code: Digest256, unlessOf id: PresentationID, of session: Session) throws -> Bool {
        try transaction.execute(
            """
            UPDATE presentations SET state = 'expired', \(Self.emptied)
            WHERE response_code_hash = $5 AND NOT (\(Self.ofSession))
            """, Self.place(id, session) + [.bytes(code.bytes)]) > 0
    }

    private static let unredeemed = AgedRows(
        "UPDATE presentations SET state = 'expired', \(emptied)", of: "presentations", key: "id", age: "expires_at",
        and: "state = 'received'")

    /// Discards the answers that nobody redeemed in time.
    @discardableResult
    func discardUnredeemed(_ batch: MaintenanceBatch = MaintenanceBatch()) throws -> MaintenanceBatch.Outcome {
        try Self.unredeemed.take(before: transaction.now, batch, in: transaction)
    }
}
