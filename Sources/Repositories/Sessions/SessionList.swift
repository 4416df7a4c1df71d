import Database
import Domain
import Foundation

package extension SessionRepository {
    /// Greater than every id, because ids are hexadecimal digits.
    private static let beyond = "g"
    private static let listedKey = ColumnTuple(Column<String>("k.id"), Column<Int64>("p.generation"))

    /// The newest sessions that were not ended, of all providers or of one, ordered by id and thus by time.
    ///
    /// The newest sessions of each key are read by the index of its open sessions. So rows of ended sessions are read only
    /// until a bulk revocation has updated them, and the list needs no index that every sign-in must update. The order is
    /// that of the whole index, so no planner scans all sessions by id. For each further key only sessions are read that
    /// are newer than the oldest on the page.
    ///
    /// - Parameter cursor: the last session of the previous page; `nil` for the first page.
    func listOpen(
        limit: Int, after cursor: SessionID? = nil, of provider: ProviderID? = nil
    ) throws -> [Session] {
        let keys = try transaction.query(
            """
            SELECT \(Self.listedKey) FROM provider_keys k JOIN providers p ON p.id = k.provider_id
            WHERE $1 = '' OR k.provider_id = $1 ORDER BY k.id
            """, [.text(provider?.description ?? "")]
        ).map(Self.listedKey.read)
        var (found, oldest) = ([Session](), "")
        for (key, generation) in keys {
            found += try newest(limit, of: key, generation, from: cursor?.description ?? Self.beyond, to: oldest)
            found = Array(found.sorted { $0.id.description > $1.id.description }.prefix(limit))
            if found.count == limit, let last = found.last { oldest = last.id.description }
        }
        return found
    }

    /// The newest sessions of a key that were not ended, by id.
    ///
    /// A statement with a limit and the condition that a session's generations are current is expected by PostgreSQL's
    /// planner to find one row. It would read all sessions of the key and sort them. So each row has its state, and ended
    /// ones are left out here.
    private func newest(
        _ limit: Int, of key: String, _ generation: Int64, from first: String, to oldest: String
    ) throws -> [Session] {
        var (found, first, size) = ([Session](), first, max(0, limit))
        while true {
            let page = try transaction.query(
                Self.columns,
                """
                WHERE (provider_key_id, provider_generation, id) < ($1, $2, $3)
                    AND (provider_key_id, provider_generation, id) > ($1, $2, $4) AND state <> 'unauthenticated'
                ORDER BY provider_key_id DESC, provider_generation DESC, id DESC LIMIT \(size)
                """,
                [.text(key), .integer(generation), .text(first), .text(oldest)])
            found += page.filter { $0.state != .unauthenticated }
            guard page.count == size, found.count < limit, let last = page.last else { return found }
            // After a bulk revocation many in a row may have ended.
            (first, size) = (last.id.description, min(max(size, 100) * 4, 10_000))
        }
    }
}
