import Database
import Domain
import Encoding
import Foundation

/// Bans and what they hold. Numbers and documents stand here as blind indexes alone, notes are sealed.
package struct BanRepository {
    private let transaction: any Transaction

    /// The table, as it is bound into what is sealed in it.
    package static let table = "bans"

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns =
        "b.id, b.kind, b.scope, b.reason, b.actor, b.created_at, b.ends_at, b.lifted_at, b.lifted_by"
    private static let holdColumns = "\(columns), h.kind, h.subject, h.part, h.ends_at, h.index_version"
    private static let inForce = "b.lifted_at IS NULL AND (h.ends_at IS NULL OR h.ends_at >"

    package func insert(_ ban: Ban) throws {
        try transaction.execute(
            """
            INSERT INTO bans (id, kind, scope, reason, actor, created_at, ends_at, lifted_at, lifted_by)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .id(ban.id), .text(ban.kind.rawValue), .text(ban.scope.rawValue), .text(ban.reason.rawValue),
                .text(ban.actor), .time(ban.createdAt), .time(ban.endsAt), .time(ban.lifted?.at),
                .optional(ban.lifted?.actor),
            ])
    }

    /// Writes that a ban holds something; what it holds already stays as it is.
    ///
    /// - Parameter goesWithBan: whether it is about an erased person, and is forgotten as soon as it holds no more.
    package func insert(_ hold: BanEntry, goesWithBan: Bool = false) throws {
        let (kind, bytes) = Self.columns(of: hold.subject)
        try transaction.execute(
            """
            INSERT INTO ban_holds (ban_id, kind, subject, part, index_version, ends_at, goes_with_ban)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (ban_id, kind, subject) DO NOTHING
            """,
            [
                .id(hold.ban.id), .text(kind), .bytes(bytes), .text(hold.part.rawValue), Value(hold.indexVersion),
                .time(hold.endsAt), Value(goesWithBan),
            ])
    }

    /// The ban with an id.
    package func find(_ id: BanID) throws -> Ban? {
        try transaction.first("SELECT \(Self.columns) FROM bans b WHERE b.id = $1", [.id(id)]).map(Self.ban)
    }

    /// The newest bans.
    ///
    /// - Parameter isActive: only those in force now.
    package func list(isActive: Bool, limit: Int) throws -> [Ban] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM bans b
            WHERE $1 = 0 OR b.lifted_at IS NULL AND (b.ends_at IS NULL OR b.ends_at > $2)
            ORDER BY b.created_at DESC, b.id LIMIT $3
            """, [Value(isActive), .time(transaction.now), Value(limit)]
        ).map(Self.ban)
    }

    /// Everything that a ban holds, what the admin named first.
    package func holds(of id: BanID) throws -> [BanEntry] {
        try transaction.query(
            """
            SELECT \(Self.holdColumns) FROM ban_holds h JOIN bans b ON b.id = h.ban_id WHERE h.ban_id = $1
            ORDER BY CASE h.part WHEN 'named' THEN 0 WHEN 'extended' THEN 1 ELSE 2 END, h.kind, h.subject
            """, [.id(id)]
        ).map(Self.hold)
    }

    /// Every hold that is or was on one of some subjects, newest ban first.
    package func holds(on subjects: [BanEntry.Subject]) throws -> [BanEntry] {
        try subjects.flatMap { subject in
            let (kind, bytes) = Self.columns(of: subject)
            return try transaction.query(
                """
                SELECT \(Self.holdColumns) FROM ban_holds h JOIN bans b ON b.id = h.ban_id
                WHERE h.kind = $1 AND h.subject = $2
                """, [.text(kind), .bytes(bytes)]
            ).map(Self.hold)
        }.sorted { $0.ban.createdAt > $1.ban.createdAt }
    }

    /// The holds in force on a user: by name, by the proven number and by the documents that verified the user. By
    /// indexes alone, and by more than the name, since a number may be proven in the moment in which it is banned.
    package func holdsInForce(on user: UserID) throws -> [BanEntry] {
        let join = "SELECT \(Self.holdColumns) FROM ban_holds h JOIN bans b ON b.id = h.ban_id"
        return try transaction.query(
            """
            \(join) WHERE h.kind = 'user' AND h.subject = $1 AND \(Self.inForce) $3)
            UNION ALL
            \(join) JOIN authenticated_users u ON u.phone_index = h.subject
            WHERE h.kind = 'phone' AND u.user_id = $2 AND u.suspended IS NULL AND \(Self.inForce) $3)
            UNION ALL
            \(join) JOIN identity_cards c ON c.document_index = h.subject
            WHERE h.kind = 'document' AND c.user_id = $2 AND c.status = 'verified' AND \(Self.inForce) $3)
            """, [.bytes(user.bytes), .id(user), .time(transaction.now)]
        ).map(Self.hold)
    }

    /// The versions of the index key under which holds in force were made.
    package func indexVersions(_ kind: BanSubjectKind) throws -> Set<Int> {
        Set(
            try transaction.query(
                """
                SELECT DISTINCT h.index_version FROM ban_holds h JOIN bans b ON b.id = h.ban_id
                WHERE h.kind = $1 AND h.index_version IS NOT NULL AND \(Self.inForce) $2)
                """, [.text(kind.rawValue), .time(transaction.now)]
            ).map { Int(try $0.integer(0)) })
    }

    /// Whether a ban in force on numbers or documents can only be looked for under versions of the index key that are
    /// not among some.
    package func isOutOfReach(_ kind: BanSubjectKind, of versions: Set<Int>) throws -> Bool {
        let known = versions.sorted().map(String.init).joined(separator: ", ")
        return try transaction.first(
            """
            SELECT 1 FROM ban_holds h JOIN bans b ON b.id = h.ban_id
            WHERE h.kind = $1 AND \(Self.inForce) $2) AND NOT EXISTS (
                SELECT 1 FROM ban_holds o
                WHERE o.ban_id = h.ban_id AND o.kind = h.kind AND o.index_version IN (\(known)))
            LIMIT 1
            """, [.text(kind.rawValue), .time(transaction.now)]) != nil
    }

    /// Lifts a ban; `false` where it holds no more anyway. Holds about erased people go with it.
    package func lift(_ id: BanID, by actor: String) throws -> Bool {
        let isLifted =
            try transaction.execute(
                """
                UPDATE bans SET lifted_at = $2, lifted_by = $3
                WHERE id = $1 AND lifted_at IS NULL AND (ends_at IS NULL OR ends_at > $2)
                """, [.id(id), .time(transaction.now), .text(actor)]) > 0
        if isLifted {
            try transaction.execute("DELETE FROM ban_holds WHERE ban_id = $1 AND goes_with_ban = 1", [.id(id)])
        }
        return isLifted
    }

    private static func ban(_ row: Row) throws -> Ban {
        let liftedAt = try row.timeOrNull(7)
        let liftedBy = try row.textOrNull(8)
        return Ban(
            id: try row.id(0), kind: try row.word(1), scope: try row.word(2), reason: try row.word(3),
            actor: try row.text(4), createdAt: try row.time(5), endsAt: try row.timeOrNull(6),
            lifted: liftedAt.flatMap { at in liftedBy.map { .init(at: at, actor: $0) } })
    }

    private static func hold(_ row: Row) throws -> BanEntry {
        func identifier<Kind>() throws -> Identifier<Kind> {
            guard let id = Identifier<Kind>(bytes: try row.bytes(10)) else { throw DamagedRow(column: 10) }
            return id
        }
        let subject: BanEntry.Subject
        switch try row.text(9) {
        case "user": subject = .user(try identifier())
        case "device": subject = .device(try identifier())
        case "phone": subject = .phone(try row.digest(10))
        case "document": subject = .document(try row.digest(10))
        case "device_key": subject = .deviceKey(try row.digest(10))
        default: throw DamagedRow(column: 9)
        }
        return BanEntry(
            ban: try ban(row), subject: subject, part: try row.word(11), endsAt: try row.timeOrNull(12),
            indexVersion: try row.integerOrNull(13).map { Int($0) })
    }

    /// How a subject stands in the columns `kind` and `subject`.
    static func columns(of subject: BanEntry.Subject) -> (kind: String, bytes: [UInt8]) {
        switch subject {
        case .user(let id): ("user", id.bytes)
        case .phone(let index): ("phone", index.bytes)
        case .document(let index): ("document", index.bytes)
        case .device(let id): ("device", id.bytes)
        case .deviceKey(let hash): ("device_key", hash.bytes)
        }
    }
}

extension Identifier {
    /// The sixteen bytes.
    var bytes: [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }

    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }
}
