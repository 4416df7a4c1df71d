import Database
import Domain
import Encoding
import Foundation

package extension SessionRepository {
    /// Whose signature opened or last renewed the sessions of a list.
    enum Signer: Sendable {
        case all
        case provider(ProviderID)
        case key(ProviderKeyID)
    }

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
    /// - Parameters:
    ///   - cursor: the last session of the previous page; `nil` for the first page.
    ///   - signer: the provider or the key that opened or last renewed them.
    ///   - moment: the time before which sessions are left out.
    func listOpen(
        limit: Int, after cursor: SessionID? = nil, of signer: Signer = .all, since moment: Date? = nil
    ) throws -> [Session] {
        var (found, oldest) = ([Session](), moment.map(Self.before) ?? "")
        for (key, generation) in try keys(of: signer) {
            found += try newest(
                limit, of: key, generation, from: cursor?.description ?? Self.beyond, to: oldest, since: moment)
            found = Array(found.sorted { $0.id.description > $1.id.description }.prefix(limit))
            if found.count == limit, let last = found.last { oldest = last.id.description }
        }
        return found
    }

    /// The newest open sessions in scope, newest first.
    func newestOpen(_ scope: SessionScope, limit: Int) throws -> [Session] {
        let (condition, value) = scope.condition
        return try transaction.query(
            Self.columns, "WHERE \(condition) AND \(Self.isOpen) ORDER BY created_at DESC, id DESC LIMIT $2",
            [value, limit.value])
    }

    func keys(of signer: Signer) throws -> [(id: String, generation: Int64)] {
        let (provider, key) =
            switch signer {
            case .all: ("", "")
            case .provider(let id): (id.description, "")
            case .key(let id): ("", id.description)
            }
        return try transaction.query(
            """
            SELECT \(Self.listedKey) FROM provider_keys k JOIN providers p ON p.id = k.provider_id
            WHERE ($1 = '' OR k.provider_id = $1) AND ($2 = '' OR k.id = $2) ORDER BY k.id
            """, [.text(provider), .text(key)]
        ).map { row in
            let (id, generation) = try Self.listedKey.read(row)
            return (id, generation)
        }
    }

    /// Less than the id of every session that was opened after a time. An id begins with the expiry of a nonce, in
    /// milliseconds, and no nonce is spent after its expiry.
    private static func before(_ moment: Date) -> String {
        let digits = String(UInt64(clamping: moment.milliseconds), radix: 16)
        let padded = String(repeating: "0", count: max(0, 12 - digits.count)) + digits
        return "\(padded.prefix(8))-\(padded.dropFirst(8).prefix(4))"
    }

    /// The newest sessions of a key that were not ended, by id.
    ///
    /// A statement with a limit and the condition that a session's generations are current is expected by PostgreSQL's
    /// planner to find one row. It would read all sessions of the key and sort them. So each row has its state, and ended
    /// ones are left out here.
    private func newest(
        _ limit: Int, of key: String, _ generation: Int64, from first: String, to oldest: String,
        since moment: Date?
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
            found += page.filter { session in
                session.state != .unauthenticated && moment.map { session.createdAt >= $0 } ?? true
            }
            guard page.count == size, found.count < limit, let last = page.last else { return found }
            // After a bulk revocation many in a row may have ended.
            (first, size) = (last.id.description, min(max(size, 100) * 4, 10_000))
        }
    }
}
