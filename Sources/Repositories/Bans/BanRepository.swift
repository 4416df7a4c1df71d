import Database
import Domain
import Encoding
import Foundation

/// Bans and their entries: what they name or derive. Numbers and documents are stored as blind indexes alone, notes
/// sealed.
package struct BanRepository {
    let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Selection(BanColumns.self)
    private static let entryColumns = Selection(BanEntryColumns.self)
    static let entry = Selection(Entry.self)

    /// What a ban names or derives, with the ban itself.
    struct Entry: ColumnSet {
        let ban: BanColumns
        let entry: BanEntryColumns

        init(_ list: inout ColumnList) {
            ban = list.add(BanColumns.self, of: "b")
            entry = list.add(BanEntryColumns.self, of: "h")
        }
    }

    static let inForce = "b.lifted_at IS NULL AND (h.ends_at IS NULL OR h.ends_at >"

    package func insert(_ ban: Ban) throws {
        try transaction.execute(
            """
            INSERT INTO bans (\(Self.columns.all)) VALUES (\(Self.columns.placeholders))
            """, Self.columns.row { $0.write(ban, to: &$1) })
    }

    /// Writes an entry of a ban; one that it has already stays as it is. Sign-ins of the user or on the device that it is
    /// about look at it from now on.
    ///
    /// - Parameter goesWithBan: whether it is about an erased person, and is forgotten as soon as it is over.
    package func insert(_ entry: BanEntry, goesWithBan: Bool = false) throws {
        try transaction.execute(
            """
            INSERT INTO ban_holds (\(Self.entryColumns.all)) VALUES (\(Self.entryColumns.placeholders))
            ON CONFLICT (ban_id, kind, subject) DO NOTHING
            """, Self.entryColumns.row { $0.write(entry, goesWithBan: goesWithBan, to: &$1) })
        if let gate = entry.subject.gate { try GateRepository(transaction).setHeld(true, gate) }
    }

    /// The ban with an id.
    package func find(_ id: BanID) throws -> Ban? {
        try transaction.first("SELECT \(Self.columns) FROM bans b WHERE b.id = $1", [.id(id)])
            .map(Self.columns.each.ban)
    }

    /// The newest bans.
    ///
    /// - Parameters:
    ///   - isActive: only those in force now.
    ///   - cursor: the id of the last one on the page before; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` for a cursor that is gone.
    package func list(isActive: Bool, limit: Int, after cursor: String? = nil) throws -> [Ban] {
        let page = NewestFirst(table: "bans b", key: "b.id", time: "b.created_at").page(from: 4)
        let place = NewestFirst(table: "bans", key: "id", time: "created_at")
        return try transaction.query(
            """
            SELECT \(Self.columns) FROM bans b
            WHERE ($1 = 0 OR b.lifted_at IS NULL AND (b.ends_at IS NULL OR b.ends_at > $2)) AND \(page.condition)
            \(page.order) LIMIT $3
            """,
            [isActive.value, .time(transaction.now), limit.value] + place.place(behind: cursor, in: transaction)
        ).map(Self.columns.each.ban)
    }

    /// Every entry of a ban, what the admin named first.
    package func entries(of id: BanID) throws -> [BanEntry] {
        try transaction.query(
            """
            SELECT \(Self.entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id WHERE h.ban_id = $1
            ORDER BY CASE h.part WHEN 'named' THEN 0 WHEN 'extended' THEN 1 ELSE 2 END, h.kind, h.subject
            """, [.id(id)]
        ).map(Self.entry(in:))
    }

    /// Every entry that is or was about one of some subjects, newest ban first.
    package func entries(on subjects: [BanEntry.Subject]) throws -> [BanEntry] {
        try subjects.flatMap { subject in
            let (kind, bytes) = Self.columns(of: subject)
            return try transaction.query(
                """
                SELECT \(Self.entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id
                WHERE h.kind = $1 AND h.subject = $2
                """, [.text(kind), .bytes(bytes)]
            ).map(Self.entry(in:))
        }.sorted { $0.ban.createdAt > $1.ban.createdAt }
    }

    /// Every entry that is or was about one of many devices, in few statements.
    package func entries(onDevices devices: [DeviceID]) throws -> [DeviceID: [BanEntry]] {
        let entries = try ManyKeys.parts(devices).flatMap { part in
            try transaction.query(
                """
                SELECT \(Self.entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id
                WHERE h.kind = 'device' AND h.subject IN (\(ManyKeys.places(part)))
                """, part.map { .bytes($0.bytes) }
            ).map(Self.entry(in:))
        }
        return entries.reduce(into: [:]) { found, entry in
            if case .device(let id) = entry.subject { found[id, default: []].append(entry) }
        }
    }

    /// The entries in force about a user: by name, by the proven number and by the documents that verified the user. By
    /// indexes alone, and by more than the name, since a number may be proven in the moment in which it is banned.
    ///
    /// - Parameter margin: entries that ended fewer seconds ago than this are included.
    package func holdsInForce(on user: UserID, margin: TimeInterval = 0) throws -> [BanEntry] {
        let join = "SELECT \(Self.entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id"
        // SQLite keeps the order of a CROSS JOIN: without statistics it would begin with all documents that are banned.
        return try transaction.query(
            """
            \(join) WHERE h.kind = 'user' AND h.subject = $1 AND \(Self.inForce) $3)
            UNION ALL
            \(join) JOIN authenticated_users u ON u.phone_index = h.subject
            WHERE h.kind = 'phone' AND u.user_id = $2 AND u.suspended IS NULL AND \(Self.inForce) $3)
            UNION ALL
            SELECT \(Self.entry)
            FROM identity_cards c CROSS JOIN ban_holds h CROSS JOIN bans b
            WHERE c.user_id = $2 AND c.status = 'verified' AND h.kind = 'document' AND h.subject = c.document_index
                AND b.id = h.ban_id AND \(Self.inForce) $3)
            """, [.bytes(user.bytes), .id(user), .time(transaction.now.addingTimeInterval(-margin))]
        ).map(Self.entry(in:))
    }

    /// The first entry in force that was made under a version behind another one: a walk of an index up to it.
    private static func version(after version: String) -> String {
        """
        (SELECT h.index_version FROM ban_holds h JOIN bans b ON b.id = h.ban_id
         WHERE h.kind = $1 AND h.index_version > \(version) AND \(inForce) $2) ORDER BY h.index_version LIMIT 1)
        """
    }

    private static let versions = """
        WITH RECURSIVE versions(version) AS (
            SELECT \(version(after: "-1"))
            UNION ALL
            SELECT \(version(after: "v.version")) FROM versions v WHERE v.version IS NOT NULL
        )
        SELECT v.version FROM versions v WHERE v.version IS NOT NULL
        """

    /// The versions of the index key under which entries in force were made. Each is found by its first such entry,
    /// however many there are: every proof of a number or a document asks.
    package func indexVersions(_ kind: BanSubjectKind) throws -> Set<Int> {
        Set(try transaction.values(Self.versions, [kind.value, .time(transaction.now)]))
    }

    /// Whether a ban in force on numbers or documents can only be looked for under versions of the index key that are
    /// not among some.
    package func isOutOfReach(_ kind: BanSubjectKind, of versions: Set<Int>) throws -> Bool {
        let known = versions.sorted().map(String.init).joined(separator: ", ")
        return try transaction.first(
            """
            SELECT 1 FROM ban_holds h JOIN bans b ON b.id = h.ban_id
            WHERE h.kind = $1 AND h.index_version NOT IN (\(known)) AND \(Self.inForce) $2) AND NOT EXISTS (
                SELECT 1 FROM ban_holds o
                WHERE o.ban_id = h.ban_id AND o.kind = h.kind AND +o.index_version IN (\(known)))
            LIMIT 1
            """, [kind.value, .time(transaction.now)]) != nil
    }

    /// Lifts a ban; `false` if it is over anyway. Entries about erased people go with it.
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

    static func entry(in row: Row) throws -> BanEntry {
        try entry.each.entry.entry(row, of: try entry.each.ban.ban(row))
    }

    /// A subject as the columns `kind` and `subject` hold it.
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
