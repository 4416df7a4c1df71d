import Database
import Domain
import Foundation

extension SessionRepository {
    /// Behind every id: they are hexadecimal digits.
    private static let beyond = "g"
    private static let listedKey = ColumnTuple(Column<String>("k.id"), Column<Int64>("p.generation"))

    /// The newest sessions that were not ended, of all providers or of one. Their ids are in the order of time.
    ///
    /// Of each key the newest are read, by the index of open sessions of a key: no row of an ended session is met, and no
    /// index has to follow every sign-in for the sake of a list. The order is the whole index's, so that no planner walks
    /// all sessions by id. Of each further key no session is read that is older than those which fill the page.
    ///
    /// - Parameter cursor: the last one on the page before; `nil` for the first page.
    package func listOpen(
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
            found += try transaction.query(
                Self.columns,
                """
                WHERE (provider_key_id, provider_generation, id) < ($1, $2, $3)
                    AND (provider_key_id, provider_generation, id) > ($1, $2, $4)
                    AND state <> 'unauthenticated' AND \(GateRepository.isCurrent("sessions"))
                ORDER BY provider_key_id DESC, provider_generation DESC, id DESC LIMIT \(max(0, limit))
                """,
                [.text(key), .integer(generation), .text(cursor?.description ?? Self.beyond), .text(oldest)])
            found = Array(found.sorted { $0.id.description > $1.id.description }.prefix(limit))
            if found.count == limit, let last = found.last { oldest = last.id.description }
        }
        return found
    }
}
