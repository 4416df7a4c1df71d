import Database
import Domain

package extension SessionRepository {
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
