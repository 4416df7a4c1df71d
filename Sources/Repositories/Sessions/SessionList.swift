import Database
import Domain
import Foundation

extension SessionRepository {
    private static let listed = Selection(SessionColumns.self)
    /// How many rows one statement looks at.
    private static let window = 4000
    /// Behind every id: they are hexadecimal digits.
    private static let beyond = "g"

    /// The newest sessions that were not ended. Their ids are in the order of time.
    ///
    /// The rows are looked at from the newest on, so many at a time, until there are enough: no index has to follow
    /// every sign-in for the sake of a list.
    ///
    /// - Parameters:
    ///   - cursor: the last one on the page before; `nil` for the first page.
    ///   - provider: whose; `nil` for everybody's.
    package func listOpen(
        limit: Int, after cursor: SessionID? = nil, of provider: ProviderID? = nil
    ) throws -> [Session] {
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
                """
                SELECT \(Self.listed) FROM sessions
                WHERE id < $1 AND id >= $2 AND state <> 'unauthenticated' AND \(GateRepository.isCurrent("sessions"))
                    AND ($3 = '' OR provider_id = $3)
                ORDER BY id DESC LIMIT $4
                """,
                [.text(end), .text(last), .text(provider?.description ?? ""), Value(limit - found.count)]
            ).map { try Self.listed.each.session($0) }
            guard ids.count == Self.window else { break }
            end = last
        }
        return found
    }
}
