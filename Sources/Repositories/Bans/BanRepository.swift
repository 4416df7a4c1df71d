import Database
import Domain
import Encoding
import Foundation

/// Bans and their entries, direct and derived. Numbers and documents are stored as blind indexes only, notes are
/// sealed.
package struct BanRepository {
    let transaction: any Transaction
    /// An entry with its ban.
    static let entry = ColumnTuple(columns.of("b"), entryColumns.of("h"))

    enum SubjectKind: String, ColumnContent {
        case user, device, phone, document
        case deviceKey = "device_key"
    }

    static let inForce = "b.lifted_at IS NULL AND (h.ends_at IS NULL OR h.ends_at >"

    static func entry(in row: Row) throws -> BanEntry {
        let (ban, (_, kind, bytes, origin, endsAt, indexVersion, _)) = try entry.read(row)
        guard let subject = subject(kind, bytes) else { throw DamagedRow(column: columns.names.count + 2) }
        return BanEntry(ban: ban, subject: subject, origin: origin, endsAt: endsAt, indexVersion: indexVersion)
    }

    /// A subject as the columns `kind` and `subject` contain it: 16 bytes of an identifier or 32 bytes of a digest.
    static func columns(of subject: BanEntry.Subject) -> (kind: SubjectKind, bytes: [UInt8]) {
        switch subject {
        case .user(let id): (.user, id.bytes)
        case .phone(let index): (.phone, index.bytes)
        case .document(let index): (.document, index.bytes)
        case .device(let id): (.device, id.bytes)
        case .deviceKey(let hash): (.deviceKey, hash.bytes)
        }
    }
}

package extension BanRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The columns of `bans` without the sealed notes, which are read separately.
    private static let columns = Table<Ban>(
        "bans",
        { id, kind, scope, reason, actor, createdAt, endsAt, liftedAt, liftedBy in
            Ban(
                id: id, kind: kind, scope: scope, reason: reason, actor: actor, createdAt: createdAt, endsAt: endsAt,
                lifted: liftedAt.flatMap { at in liftedBy.map { .init(at: at, actor: $0) } })
        },
        Field("id", \.id),
        Field("kind", \.kind),
        Field("scope", \.scope),
        Field("reason", \.reason),
        Field("actor", \.actor),
        Field("created_at", \.createdAt),
        Field("ends_at", \.endsAt),
        Field("lifted_at", \.lifted?.at),
        Field("lifted_by", \.lifted?.actor))
    /// The columns of `ban_holds`: the entries of bans, with their subjects as ``columns(of:)`` returns them.
    private static let entryColumns = ColumnTuple(
        Column<BanID>("ban_id"), Column<SubjectKind>("kind"), Column<[UInt8]>("subject"),
        Column<BanEntry.Origin>("part"), Column<Date?>("ends_at"), Column<Int?>("index_version"),
        Column<Bool>("goes_with_ban"))

    func insert(_ ban: Ban) throws {
        try transaction.execute(Self.columns.insertion, Self.columns.row(ban))
    }

    /// Inserts an entry of a ban, unless it exists. From now on sign-ins of that user or device check it.
    ///
    /// - Parameter goesWithBan: whether it concerns an erased person, and is deleted as soon as it ends.
    func insert(_ entry: BanEntry, goesWithBan: Bool = false) throws {
        let (kind, subject) = Self.columns(of: entry.subject)
        try transaction.execute(
            """
            INSERT INTO ban_holds (\(Self.entryColumns)) VALUES (\(Self.entryColumns.placeholders))
            ON CONFLICT (ban_id, kind, subject) DO NOTHING
            """,
            Self.entryColumns.row(
                entry.ban.id, kind, subject, entry.origin, entry.endsAt, entry.indexVersion, goesWithBan))
        if let scope = entry.subject.scope { try GenerationRepository(transaction).setMayBeBanned(true, scope) }
    }

    func find(_ id: BanID) throws -> Ban? {
        try transaction.first(Self.columns, "b WHERE b.id = $1", [.id(id)])
    }

    /// The newest bans.
    ///
    /// - Parameters:
    ///   - isActive: whether to list only active ones.
    ///   - cursor: the id of the last ban of the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the cursor's row was deleted.
    func list(isActive: Bool, limit: Int, after cursor: String? = nil) throws -> [Ban] {
        let page = NewestFirst(table: "bans b", key: "b.id", time: "b.created_at").page(from: 4)
        let place = NewestFirst(table: "bans", key: "id", time: "created_at")
        return try transaction.query(
            Self.columns,
            """
            b
            WHERE ($1 = 0 OR b.lifted_at IS NULL AND (b.ends_at IS NULL OR b.ends_at > $2)) AND \(page.condition)
            \(page.order) LIMIT $3
            """,
            [isActive.value, .time(transaction.now), limit.value] + place.place(behind: cursor, in: transaction))
    }

    private static let ofBans = ListStatement { list in
        """
        SELECT \(entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id WHERE h.ban_id IN \(list.in)
        ORDER BY CASE h.part WHEN 'named' THEN 0 WHEN 'extended' THEN 1 ELSE 2 END, h.kind, h.subject
        """
    }

    /// Every entry of a ban, the direct one first.
    func entries(of id: BanID) throws -> [BanEntry] { try entries(of: [id])[id] ?? [] }

    /// Every entry of some bans, the direct one first, in few statements.
    func entries(of bans: [BanID]) throws -> [BanID: [BanEntry]] {
        let rows = try transaction.query(Self.ofBans, list: bans.map(\.value))
        return Dictionary(grouping: try rows.map(Self.entry(in:)), by: \.ban.id)
    }

    /// Every present and former entry on some subjects, newest ban first.
    func entries(on subjects: [BanEntry.Subject]) throws -> [BanEntry] {
        try subjects.flatMap { subject in
            let (kind, bytes) = Self.columns(of: subject)
            return try transaction.query(
                """
                SELECT \(Self.entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id
                WHERE h.kind = $1 AND h.subject = $2
                """, [kind.value, .bytes(bytes)]
            ).map(Self.entry(in:))
        }.sorted { $0.ban.createdAt > $1.ban.createdAt }
    }

    private static let ofSubjects = ListStatement(after: 2) { list in
        """
        SELECT \(entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id
        WHERE h.kind = $2 AND h.subject IN \(list.in) AND \(inForce) $1)
        """
    }

    /// The active entries on some subjects themselves, in few statements.
    func entriesInForce(on subjects: Set<BanEntry.Subject>) throws -> [BanEntry] {
        let kinds = Dictionary(grouping: subjects.map(Self.columns(of:)), by: \.kind)
        return try kinds.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { kind, subjects in
            try transaction.query(
                Self.ofSubjects, [.time(transaction.now), kind.value], list: subjects.map { .bytes($0.bytes) }
            ).map(Self.entry(in:))
        }
    }

    /// Every present and former entry on some devices, in few statements.
    func entries(onDevices devices: [DeviceID]) throws -> [DeviceID: [BanEntry]] {
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

    /// The active entries on a user: direct, by the proven number, and by the documents that verified the user. All are
    /// found by index. The number is checked too, since it may be proven at the moment in which it is banned.
    ///
    /// - Parameter margin: entries that ended fewer seconds ago than this are included.
    func holdsInForce(on user: UserID, margin: TimeInterval = 0) throws -> [BanEntry] {
        let join = "SELECT \(Self.entry) FROM ban_holds h JOIN bans b ON b.id = h.ban_id"
        // SQLite keeps the order of a CROSS JOIN: without statistics it would start with all banned documents.
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

    /// The first version after another one that has an active entry: an index scan up to it.
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

    /// The versions of the index key that active entries use. Each is found by its first such entry, because every
    /// proof of a number or document needs the list.
    func indexVersions(_ kind: Ban.SubjectKind) throws -> Set<Int> {
        Set(try transaction.values(Self.versions, [kind.value, .time(transaction.now)]))
    }

    /// Whether an active ban on numbers or documents exists only under versions of the index key that are not in a set.
    func isOutOfReach(_ kind: Ban.SubjectKind, of versions: Set<Int>) throws -> Bool {
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

    /// Lifts a ban; `false` if it has ended already. Entries about erased people are deleted with it.
    func lift(_ id: BanID, by actor: String) throws -> Bool {
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

    private static func subject(_ kind: SubjectKind, _ bytes: [UInt8]) -> BanEntry.Subject? {
        switch kind {
        case .user: UserID(bytes: bytes).map { .user($0) }
        case .phone: Digest256(bytes).map { .phone($0) }
        case .document: Digest256(bytes).map { .document($0) }
        case .device: DeviceID(bytes: bytes).map { .device($0) }
        case .deviceKey: Digest256(bytes).map { .deviceKey($0) }
        }
    }

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
