import Database
import Domain
import Foundation

/// What becomes of bans besides judging by them: notes, erased people, forgetting.
package struct BanMaintenance {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The two notes of a ban.
    package enum Note: String, Sendable, CaseIterable {
        /// What was found, when it was made.
        case note
        case liftNote = "lift_note"

        /// The column that holds it.
        var column: String { "sealed_\(rawValue)" }
    }

    /// Keeps a note, sealed for its place: it may speak of people.
    ///
    /// - Throws: ``SealingFailure``.
    package func setNote(_ text: String, _ note: Note, of id: BanID, keys: PersonalKeys) throws {
        let sealed = try keys.seal(text, table: BanRepository.table, column: note.column, row: id.description)
        try transaction.execute(
            "UPDATE bans SET \(note.column) = $2, \(note.rawValue)_version = $3 WHERE id = $1",
            [.id(id), .bytes(sealed.bytes), Value(sealed.version)])
    }

    /// A note; `nil` where there is none, or none any more.
    ///
    /// - Throws: ``SealingFailure``.
    package func note(_ note: Note, of id: BanID, keys: PersonalKeys) throws -> String? {
        let row = try transaction.first(
            "SELECT \(note.column), \(note.rawValue)_version FROM bans WHERE id = $1 AND \(note.column) IS NOT NULL",
            [.id(id)])
        return try row.map { row in
            try keys.open(
                SealedText(bytes: try row.bytes(0), version: Int(try row.integer(1))), table: BanRepository.table,
                column: note.column, row: id.description)
        }
    }

    /// Seals some of the notes that lie under another version of the wrapping key under the current one.
    ///
    /// - Parameter limit: how many at most: it bounds how long other writers wait.
    /// - Returns: how many; fewer than `limit` when none is left.
    package func rewrap(limit: Int, keys: PersonalKeys) throws -> Int {
        var count = 0
        for note in Note.allCases where count < limit {
            let rows = try transaction.query(
                "SELECT id FROM bans WHERE \(note.rawValue)_version < $1 ORDER BY id LIMIT $2",
                [Value(keys.currentWrappingVersion), Value(limit - count)])
            for row in rows {
                let id: BanID = try row.id(0)
                if let text = try self.note(note, of: id, keys: keys) {
                    try setNote(text, note, of: id, keys: keys)
                }
            }
            count += rows.count
        }
        return count
    }

    /// How many notes lie under each version of the wrapping key: a version with any cannot go.
    package func countByVersion() throws -> [Int: Int] {
        var counts: [Int: Int] = [:]
        for note in Note.allCases {
            let rows = try transaction.query(
                """
                SELECT \(note.rawValue)_version, count(*) FROM bans WHERE \(note.rawValue)_version IS NOT NULL
                GROUP BY \(note.rawValue)_version
                """)
            for row in rows { counts[Int(try row.integer(0)), default: 0] += Int(try row.integer(1)) }
        }
        return counts
    }

    /// A person is erased: of the bans about them nothing is left but what those in force need, and that goes with
    /// them. In bans about others, the person is forgotten as soon as the hold is over.
    ///
    /// - Parameter subjects: the user, and the blind indexes of the user's number and documents under all versions.
    package func erase(_ subjects: [BanEntry.Subject]) throws {
        for subject in subjects {
            let (kind, bytes) = BanRepository.columns(of: subject)
            let rows = try transaction.query(
                "SELECT ban_id, part FROM ban_holds WHERE kind = $1 AND subject = $2", [.text(kind), .bytes(bytes)])
            for row in rows {
                let ban: BanID = try row.id(0)
                if try row.text(1) == BanEntry.Part.named.rawValue {
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
                    [.id(ban), .text(kind), .bytes(bytes)])
            }
        }
        try purge()
    }

    /// Whether a hold is about an erased person, and is forgotten as soon as it holds no more.
    package func goesWithBan(_ hold: BanEntry) throws -> Bool {
        let (kind, bytes) = BanRepository.columns(of: hold.subject)
        return try transaction.first(
            "SELECT 1 FROM ban_holds WHERE ban_id = $1 AND kind = $2 AND subject = $3 AND goes_with_ban = 1",
            [.id(hold.ban.id), .text(kind), .bytes(bytes)]) != nil
    }

    /// Forgets what was held of erased people and holds no more.
    package func purge() throws {
        try transaction.execute(
            """
            DELETE FROM ban_holds WHERE goes_with_ban = 1
                AND (ends_at <= $1 OR ban_id IN (SELECT id FROM bans WHERE lifted_at IS NOT NULL))
            """, [.time(transaction.now)])
    }
}
