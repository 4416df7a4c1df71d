import Database
import Domain
import Foundation

package extension SessionRepository {
    private static let past = ColumnTuple(
        columns.of("s"), Column<Date?>("s.ended_at"), Column<String?>("s.end_reason"))

    /// The sessions that ended last. A list is kept for as long as ended sessions are.
    ///
    /// - Parameters:
    ///   - cursor: the last session of the previous page; `nil` for the first page.
    ///   - signer: the provider or the key that opened or last renewed them.
    ///   - moment: the time before which ends are left out.
    /// - Throws: `Refusal` `not_found` if the cursor's row was deleted.
    func listEnded(
        limit: Int, after cursor: SessionID? = nil, of signer: Signer = .all, since moment: Date? = nil
    ) throws -> [PastSession] {
        let newest = NewestFirst(table: "sessions", key: "id", time: "ended_at")
        let place = try newest.place(behind: cursor?.description, in: transaction) + [.time(moment ?? .distantPast)]
        let ended = "s.ended_at IS NOT NULL AND s.ended_at >= $3 AND \(GenerationRepository.wasOpened("s"))"
        let page = "(s.ended_at, s.id) < ($1, $2) AND \(ended)"
        let order = "ORDER BY s.ended_at DESC, s.id DESC LIMIT \(max(0, limit))"
        if case .all = signer {
            return try past("WHERE \(page) \(order)", place)
        }
        let found = try keys(of: signer).flatMap { key in
            try past("WHERE s.provider_key_id = $4 AND \(page) \(order)", place + [.text(key.id)])
        }
        return Array(found.sorted { $0.place.precedes($1.place) }.prefix(limit))
    }

    /// The sessions of a user, ended ones too, newest first.
    ///
    /// - Parameters:
    ///   - place: the place after which the page starts, by creation.
    ///   - moment: the time before which sessions are left out.
    func list(of user: UserID, after place: HistoryPlace, since moment: Date?, limit: Int) throws -> [PastSession] {
        try past(
            """
            WHERE s.user_id = $1 AND (s.created_at, s.id) < ($2, $3) AND s.created_at > $4
                AND \(GenerationRepository.wasOpened("s"))
            ORDER BY s.created_at DESC, s.id DESC LIMIT \(limit)
            """, [.id(user)] + place.values + [.time(moment ?? .distantPast)])
    }

    private func past(_ rest: String, _ arguments: [Value]) throws -> [PastSession] {
        try transaction.query("SELECT \(Self.past) FROM sessions s \(rest)", arguments).map { row in
            let (session, endedAt, reason) = try Self.past.read(row)
            return PastSession(session: session, endedAt: endedAt, endReason: reason)
        }
    }

    /// A place among the open sessions of a key, and then among its ended ones.
    enum SignedPlace: Sendable {
        case open(generation: Int64, id: String)
        case ended(at: Date, id: String)

        package static let start = SignedPlace.open(generation: .min, id: "")
    }

    private static let signed = ColumnTuple(columns.of("s"), Column<Int64>("s.provider_generation"))

    /// Some of the sessions that a key opened or last renewed, open ones first, and the place to continue; `nil` after
    /// the last one. A session that ends meanwhile may come twice.
    func list(
        signedBy key: ProviderKeyID, after place: SignedPlace, limit: Int
    ) throws -> (sessions: [Session], next: SignedPlace?) {
        switch place {
        case .open(let generation, let id):
            let found = try transaction.query(
                """
                SELECT \(Self.signed) FROM sessions s
                WHERE s.provider_key_id = $1 AND (s.provider_generation, s.id) > ($2, $3)
                    AND s.state <> 'unauthenticated'
                ORDER BY s.provider_generation, s.id LIMIT \(limit)
                """, [.id(key), .integer(generation), .text(id)]
            ).map(Self.signed.read)
            let last = found.count < limit ? nil : found.last
            return (
                found.map { $0.0 },
                last.map { SignedPlace.open(generation: $0.1, id: $0.0.id.description) }
                    ?? .ended(at: .distantPast, id: "")
            )
        case .ended(let time, let id):
            let found = try past(
                """
                WHERE s.provider_key_id = $1 AND s.ended_at IS NOT NULL AND (s.ended_at, s.id) > ($2, $3)
                    AND \(GenerationRepository.wasOpened("s"))
                ORDER BY s.ended_at, s.id LIMIT \(limit)
                """, [.id(key), .time(time), .text(id)])
            let last = found.count < limit ? nil : found.last
            return (
                found.map(\.session),
                last.map { SignedPlace.ended(at: $0.endedAt ?? .distantFuture, id: $0.session.id.description) }
            )
        }
    }
}

extension PastSession {
    fileprivate var place: HistoryPlace { HistoryPlace(at: endedAt ?? session.createdAt, id: session.id.description) }
}
