import Foundation
import GRDB

extension ReaderStore {
    /// The recording of an article, from its announcement until it is in the archive.
    struct Recording: Codable, Sendable, FetchableRecord {
        let id, article: String
        /// The announced size, and the number of bytes that have arrived.
        let length, received: Int64
        /// The SHA-256 of the file in hexadecimal digits, as announced, or as computed at the end.
        let sha256: String?
        let createdAt: Int64
        /// The place in the archive, known when all bytes have arrived and were checked.
        let name: String?
        let storedAt: Int64?

        var expiresAt: Int64 { createdAt + incompleteLifetime }
        var isComplete: Bool { received == length }
    }

    /// A recording in the list for staff.
    struct ListedRecording: Codable, Sendable, FetchableRecord {
        let createdAt, length: Int64
        let username, title: String
        let sha256, name: String?
        let storedAt: Int64?
    }

    enum RecordingConflict: Error {
        case unknownArticle
        case taken
        case tooMany
        case full
    }

    /// The lifetime in seconds of a recording that does not become complete.
    static let incompleteLifetime: Int64 = 86_400
    /// The bounds of recordings that are not in the archive yet: of a person, and in bytes of all together.
    private static let incompleteOfPerson = 5, waitingBytes: Int64 = 20 << 30

    static let recordings = """
        CREATE TABLE recordings (
            id TEXT NOT NULL PRIMARY KEY, article TEXT NOT NULL UNIQUE REFERENCES articles (id),
            length INTEGER NOT NULL, received INTEGER NOT NULL DEFAULT 0, sha256 TEXT, created_at INTEGER NOT NULL,
            name TEXT, stored_at INTEGER);
        CREATE INDEX recordings_waiting ON recordings (created_at) WHERE stored_at IS NULL;
        """

    private static let recording = """
        SELECT r.id, r.article, r.length, r.received, r.sha256, r.created_at AS createdAt, r.name,
            r.stored_at AS storedAt
        FROM recordings r
        """
    private static let ofPerson = "JOIN articles a ON a.id = r.article JOIN sessions s ON s.id = a.session"

    /// Announces the recording of an article of the person. A repetition returns the announced one.
    func announce(_ length: Int64, sha256: String?, of article: String, by person: String) async throws -> Recording {
        try await database.write { database in
            let owner = try String.fetchOne(
                database,
                sql: "SELECT s.person FROM articles a JOIN sessions s ON s.id = a.session WHERE a.id = ?",
                arguments: [article])
            guard owner == person else { throw RecordingConflict.unknownArticle }
            let known = try Recording.fetchOne(
                database, sql: "\(Self.recording) WHERE r.article = ?", arguments: [article])
            if let known {
                let isSame = known.length == length && (known.sha256 == sha256 || sha256 == nil)
                guard isSame, known.name == nil else { throw RecordingConflict.taken }
                return known
            }
            let count = try Int.fetchOne(
                database,
                sql: "SELECT COUNT(*) FROM recordings r \(Self.ofPerson) WHERE s.person = ? AND r.name IS NULL",
                arguments: [person])
            guard (count ?? 0) < Self.incompleteOfPerson else { throw RecordingConflict.tooMany }
            let waiting = try Int64.fetchOne(
                database, sql: "SELECT COALESCE(SUM(length), 0) FROM recordings WHERE stored_at IS NULL")
            guard (waiting ?? 0) <= Self.waitingBytes - length else { throw RecordingConflict.full }
            let own = try Int64.fetchOne(
                database,
                sql: """
                    SELECT COALESCE(SUM(r.length), 0) FROM recordings r \(Self.ofPerson)
                    WHERE s.person = ? AND r.stored_at IS NULL
                    """, arguments: [person])
            // One recording may be announced in any case.
            guard own == 0 || (own ?? 0) <= Self.waitingBytes / 10 - length else { throw RecordingConflict.tooMany }
            let id = UUID().uuidString.lowercased()
            try database.execute(
                sql: "INSERT INTO recordings (id, article, length, sha256, created_at) VALUES (?, ?, ?, ?, ?)",
                arguments: [id, article, length, sha256, Self.now])
            return Recording(
                id: id, article: article, length: length, received: 0, sha256: sha256, createdAt: Self.now, name: nil,
                storedAt: nil)
        }
    }

    func recording(_ id: String, of person: String) async throws -> Recording? {
        try await database.read { database in
            try Recording.fetchOne(
                database, sql: "\(Self.recording) \(Self.ofPerson) WHERE r.id = ? AND s.person = ?",
                arguments: [id, person])
        }
    }

    /// Records that the bytes up to `received` are on the disk.
    func advance(_ id: String, to received: Int64) async throws {
        try await database.write { database in
            try database.execute(
                sql: "UPDATE recordings SET received = ? WHERE id = ? AND received < ?",
                arguments: [received, id, received])
        }
    }

    /// Records the checked file's digest and its place in the archive.
    func finish(_ id: String, sha256: String, name: String) async throws {
        try await database.write { database in
            try database.execute(
                sql: "UPDATE recordings SET sha256 = ?, name = ? WHERE id = ?", arguments: [sha256, name, id])
        }
    }

    /// Records that the archive has the file.
    func noteStored(_ id: String) async throws {
        try await database.write { database in
            try database.execute(sql: "UPDATE recordings SET stored_at = ? WHERE id = ?", arguments: [Self.now, id])
        }
    }

    func deleteRecording(_ id: String) async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM recordings WHERE id = ?", arguments: [id])
        }
    }

    /// The recordings that are not in the archive, oldest first.
    func waitingRecordings() async throws -> [Recording] {
        try await database.read { database in
            try Recording.fetchAll(
                database, sql: "\(Self.recording) WHERE r.stored_at IS NULL ORDER BY r.created_at")
        }
    }

    /// The recordings that were announced in a period, for staff.
    func recordings(_ span: Range<Int64>) async throws -> [ListedRecording] {
        try await database.read { database in
            try ListedRecording.fetchAll(
                database,
                sql: """
                    SELECT r.created_at AS createdAt, r.length, p.username, a.title, r.sha256, r.name,
                        r.stored_at AS storedAt
                    FROM recordings r \(Self.ofPerson) JOIN people p ON p.id = s.person
                    WHERE r.created_at >= ? AND r.created_at < ? ORDER BY r.created_at, r.id
                    """, arguments: [span.lowerBound, span.upperBound])
        }
    }
}
