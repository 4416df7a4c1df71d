import Database
import Domain
import Foundation

package extension BanRepository {
    private static let named = ListStatement(after: 1) { list in
        """
        SELECT \(entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id
        WHERE h.kind = 'user' AND h.subject IN \(list.in) AND \(inForce) $1)
        """
    }
    /// SQLite keeps the order of a `CROSS JOIN`: it starts with the users, not with all banned subjects.
    private static let derived = ListStatement(after: 1) { list in
        """
        SELECT \(entry), u.user_id FROM authenticated_users u CROSS JOIN ban_holds h CROSS JOIN bans b
        WHERE u.user_id IN \(list.in) AND u.suspended IS NULL AND h.kind = 'phone' AND h.subject = u.phone_index
            AND b.id = h.ban_id AND \(inForce) $1)
        UNION ALL
        SELECT \(entry), c.user_id FROM identity_cards c CROSS JOIN ban_holds h CROSS JOIN bans b
        WHERE c.user_id IN \(list.in) AND c.status = 'verified' AND h.kind = 'document'
            AND h.subject = c.document_index AND b.id = h.ban_id AND \(inForce) $1)
        """
    }

    /// The active entries on some users, including those by number and document. Users without any are omitted.
    func holdsInForce(on users: [UserID]) throws -> [UserID: [BanEntry]] {
        let now = Value.time(transaction.now)
        var found: [UserID: [BanEntry]] = [:]
        for row in try transaction.query(Self.named, [now], list: users.map { .bytes($0.bytes) }) {
            let entry = try Self.entry(in: row)
            if case .user(let user) = entry.subject { found[user, default: []].append(entry) }
        }
        for row in try transaction.query(Self.derived, [now], list: users.map(\.value)) {
            let holder = try UserID.read(row, row.values.count - 1)
            found[holder, default: []].append(try Self.entry(in: row))
        }
        return found
    }
}
