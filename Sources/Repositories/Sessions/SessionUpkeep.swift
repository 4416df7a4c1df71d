import Database
import Domain
import Foundation

package extension SessionRepository {
    /// Writes last uses of sessions, unless a later one is stored. A statement has 250, 50, ten or one of them, so
    /// there are four texts to prepare.
    func recordUses(_ uses: [Session.Use]) throws {
        var left = uses[...]
        while let (count, statement) = Self.uses.first(where: { $0.count <= left.count }) {
            try transaction.enqueue(statement, left.prefix(count).flatMap { [.id($0.id), .time($0.at)] })
            left = left.dropFirst(count)
        }
    }

    private static let uses = [250, 50, 10, 1].map { count in
        let rows = (0..<count).map { "($\(2 * $0 + 1), $\(2 * $0 + 2))" }.joined(separator: ", ")
        return (
            count: count,
            statement: """
            UPDATE sessions SET last_used_at = used.column2 FROM (VALUES \(rows)) AS used
            WHERE sessions.id = used.column1 AND sessions.state = 'authenticated'
                AND sessions.last_used_at < used.column2
            """
        )
    }

    private static let over = AgedRows(of: "sessions", key: "id", age: "ended_at")
    private static let runOut = AgedRows(
        of: "sessions", key: "id", age: "renewed_at", and: "COALESCE(challenged_at, 0) < $1")

    /// Deletes sessions that ended before a time.
    @discardableResult
    func purgeEnded(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.over.take(before: moment, batch, in: transaction)
    }

    /// Deletes sessions that expired before a time.
    @discardableResult
    func purgeExpired(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.runOut.take(before: moment, batch, in: transaction)
    }

    // MARK: Push endpoints

    /// Records that a session has registered the endpoint of its device.
    func noteEndpoint(of id: SessionID) throws {
        try transaction.enqueue("UPDATE sessions SET has_endpoint = 1 WHERE id = $1 AND has_endpoint = 0", [.id(id)])
    }

    /// Deletes the push endpoint of a session's user on its device, unless another open session has registered it too.
    func deletePushEndpoint(of id: SessionID) throws {
        try transaction.enqueue(
            """
            DELETE FROM push_endpoints
            WHERE user_id = (SELECT s.user_id FROM sessions s WHERE s.id = $1)
                AND device_id = (SELECT s.device_id FROM sessions s WHERE s.id = $1)
                AND NOT EXISTS (
                    SELECT 1 FROM sessions o WHERE o.user_id = push_endpoints.user_id
                        AND o.device_id = push_endpoints.device_id AND o.id <> $1 AND o.has_endpoint = 1
                        AND \(Self.isOpen(of: "o")))
            """, [.id(id)])
    }
}
