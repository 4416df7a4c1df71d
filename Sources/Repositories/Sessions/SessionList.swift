import Database
import Domain
import Foundation

extension SessionRepository {
    /// How many rows one statement looks at.
    private static let window = 4000
    /// Behind every id: they are hexadecimal digits.
    private static let beyond = "g"

    /// The newest sessions that were not ended. Their ids are in the order of time.
    ///
    /// The rows are looked at from the newest on, so many at a time, until there are enough: no index has to follow
    /// every sign-in for the sake of a list.
    ///
    /// - Parameter cursor: the last one on the page before; `nil` for the first page.
    package func listOpen(limit: Int, after cursor: SessionID? = nil) throws -> [Session] {
        var found: [Session] = []
        var end = cursor?.description ?? Self.beyond
        while found.count < limit {
            // The gates are asked about these rows alone: about all of them the store would be asked before it sorts.
            let ids: [String] = try transaction.values(
                """
                SELECT id FROM sessions WHERE id < $1 AND state <> 'unauthenticated' ORDER BY id DESC LIMIT \(Self.window)
                """, [.text(end)])
            guard let last = ids.last else { break }
            found += try transaction.query(
                Self.columns,
                """
                WHERE id < $1 AND id >= $2 AND state <> 'unauthenticated' AND \(GateRepository.isCurrent("sessions"))
                ORDER BY id DESC LIMIT $3
                """,
                [.text(end), .text(last), Value(limit - found.count)])
            guard ids.count == Self.window else { break }
            end = last
        }
        return found
    }

    /// The same of a provider: the newest of each of its keys, by the index of open sessions of a key. The order is the
    /// whole index's, so that no planner walks all sessions by id until it has met enough of the provider's.
    package func listOpen(
        limit: Int, after cursor: SessionID? = nil, of provider: ProviderID
    ) throws -> [Session] {
        let generation: Int64? = try transaction.value(
            "SELECT generation FROM providers WHERE id = $1", [.id(provider)])
        let keys: [String] = try transaction.values(
            "SELECT id FROM provider_keys WHERE provider_id = $1 ORDER BY id", [.id(provider)])
        guard let generation else { return [] }
        let found = try keys.flatMap { key in
            try transaction.query(
                Self.columns,
                """
                WHERE (provider_key_id, provider_generation, id) < ($1, $2, $3)
                    AND (provider_key_id, provider_generation, id) > ($1, $2, '')
                    AND state <> 'unauthenticated' AND \(GateRepository.isCurrent("sessions"))
                ORDER BY provider_key_id DESC, provider_generation DESC, id DESC LIMIT \(max(0, limit))
                """,
                [.text(key), .integer(generation), .text(cursor?.description ?? Self.beyond)])
        }
        return Array(found.sorted { $0.id.description > $1.id.description }.prefix(limit))
    }
}
