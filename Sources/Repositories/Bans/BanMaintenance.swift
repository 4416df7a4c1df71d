import Database
import Domain
import Foundation

/// Maintenance of bans: notes, erasure and purging.
package struct BanMaintenance {
    private let transaction: any Transaction
}

package extension BanMaintenance {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The two notes of a ban.
    enum Note: String, Sendable, CaseIterable {
        /// The note of the ban's creation.
        case note
        case liftNote = "lift_note"

        var column: SealedColumn {
            switch self {
            case .note: .banNote
            case .liftNote: .banLiftNote
            }
        }

        /// The column of its wrapping key's version.
        var version: String { "\(rawValue)_version" }
    }

    /// Stores a note, sealed for its place because it may contain personal data.
    ///
    /// - Throws: ``SealingFailure``.
    func setNote(_ text: String, _ note: Note, of id: BanID, keys: PersonalKeys) throws {
        let sealed = try keys.seal(text, in: note.column, of: id)
        try transaction.execute(
            "UPDATE bans SET \(note.column.name) = $2, \(note.version) = $3 WHERE id = $1",
            [.id(id), sealed.bytes.value, sealed.version.value])
    }

    /// A note; `nil` if there is none, or it was deleted.
    ///
    /// - Throws: ``SealingFailure``.
    func note(_ note: Note, of id: BanID, keys: PersonalKeys) throws -> String? {
        let columns = ColumnTuple(Column<[UInt8]>(note.column.name), Column<Int>(note.version))
        let row = try transaction.first(
            "SELECT \(columns) FROM bans WHERE id = $1 AND \(note.column.name) IS NOT NULL", [.id(id)])
        return try row.map { row in
            let (bytes, version) = try columns.read(row)
            return try keys.open(SealedText(bytes: bytes, version: version), in: note.column, of: id)
        }
    }

    /// Seals some of the notes again that are sealed under older versions of the wrapping key.
    ///
    /// - Parameter limit: the largest number, which limits how long other writers wait.
    /// - Returns: how many; fewer than `limit` if none is left.
    func rewrap(limit: Int, keys: PersonalKeys) throws -> Int {
        var count = 0
        for note in Note.allCases where count < limit {
            let bans: [BanID] = try transaction.values(
                "SELECT id FROM bans WHERE \(note.version) < $1 ORDER BY id LIMIT $2",
                [keys.currentWrappingVersion.value, (limit - count).value])
            for id in bans {
                if let text = try self.note(note, of: id, keys: keys) {
                    try setNote(text, note, of: id, keys: keys)
                }
            }
            count += bans.count
        }
        return count
    }

    /// The number of notes under each version of the wrapping key. A version in use cannot be removed.
    func countByVersion() throws -> [Int: Int] {
        var counts: [Int: Int] = [:]
        for note in Note.allCases {
            let columns = ColumnTuple(Column<Int>(note.version), Column<Int>("COUNT(*)"))
            let rows = try transaction.query(
                "SELECT \(columns) FROM bans WHERE \(note.version) IS NOT NULL GROUP BY \(note.version)")
            for (version, count) in try rows.map(columns.read) { counts[version, default: 0] += count }
        }
        return counts
    }

    private static let entry = ColumnTuple(Column<BanID>("ban_id"), Column<BanEntry.Origin>("part"))

    /// Erases a person from bans. Of bans on the person only the entries that active bans need are kept, and they are
    /// deleted when the ban ends. In bans on other people, the person's entries are deleted when they end.
    ///
    /// - Parameter subjects: the user, and the blind indexes of the user's number and documents under all versions.
    func erase(_ subjects: [BanEntry.Subject]) throws {
        for subject in subjects {
            let (kind, bytes) = BanRepository.columns(of: subject)
            let entries = try transaction.query(
                "SELECT \(Self.entry) FROM ban_holds WHERE kind = $1 AND subject = $2", [kind.value, .bytes(bytes)])
            for (ban, origin) in try entries.map(Self.entry.read) {
                if origin == .direct {
                    try transaction.execute(
                        """
                        UPDATE bans SET sealed_note = NULL, note_version = NULL, sealed_lift_note = NULL,
                            lift_note_version = NULL WHERE id = $1
                        """, [.id(ban)])
                    try transaction.execute(
                        "UPDATE ban_holds SET goes_with_ban = 1 WHERE ban_id = $1 AND part <> 'holder'", [.id(ban)])
                }
                try transaction.execute(
                    "UPDATE ban_holds SET goes_with_ban = 1 WHERE ban_id = $1 AND kind = $2 AND subject = $3",
                    [.id(ban), kind.value, .bytes(bytes)])
                try transaction.execute(
                    "DELETE FROM ban_holds WHERE \(Self.isOver) AND ban_id = $2", [.time(transaction.now), .id(ban)])
            }
        }
    }

    /// Whether an entry concerns an erased person, and is deleted as soon as it ends.
    func goesWithBan(_ entry: BanEntry) throws -> Bool {
        let (kind, bytes) = BanRepository.columns(of: entry.subject)
        return try transaction.first(
            "SELECT 1 FROM ban_holds WHERE ban_id = $1 AND kind = $2 AND subject = $3 AND goes_with_ban = 1",
            [.id(entry.ban.id), kind.value, .bytes(bytes)]) != nil
    }

    /// A subquery by id for each entry, because a planner may read all bans first for an `EXISTS`.
    private static let isOver = """
        goes_with_ban = 1 AND (ends_at <= $1
            OR (SELECT b.lifted_at FROM bans b WHERE b.id = ban_holds.ban_id) IS NOT NULL)
        """
    private static let page = ColumnTuple(Column<Int>("COUNT(*)"), Column<String?>("MAX(ban_id)"))

    /// Deletes ended entries about erased people.
    func purge() throws {
        try transaction.execute("DELETE FROM ban_holds WHERE \(Self.isOver)", [.time(transaction.now)])
    }

    /// Deletes ended entries about erased people in one batch, ordered by ban.
    func purge(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let start = Value.text(batch.after ?? "")
        let page = try transaction.first(
            """
            SELECT \(Self.page) FROM (
                SELECT ban_id FROM ban_holds WHERE goes_with_ban = 1 AND ban_id > $1 ORDER BY ban_id LIMIT \(batch.limit)
            ) AS entries
            """, [start])
        guard let page, case (let count, let last?) = try Self.page.read(page) else { return .all(0) }
        let rows = try transaction.execute(
            "DELETE FROM ban_holds WHERE \(Self.isOver) AND ban_id > $2 AND ban_id <= $3",
            [.time(transaction.now), start, .text(last)])
        return MaintenanceBatch.Outcome(rows: rows, reached: last, isFinished: count < batch.limit)
    }
}
