import Foundation
import GRDB
import Hummingbird
import SampleBackend

extension ReaderStore {
    /// A person's session of reading: from "Start Session" to "End Session".
    struct Session: Codable, Sendable, FetchableRecord {
        let id: String
        let startedAt: Int64
        /// The time that the app has submitted.
        let seconds: Int
        let endedAt: Int64?
        let articles: Int
    }

    enum Conflict: Error { case idTaken, unknown, ended }

    /// The result of a start: the new session, or another one that still runs.
    enum Start: Sendable {
        case started(Session)
        case running(Session)
    }

    /// The total of a month for one person.
    struct Total: Codable, Sendable, FetchableRecord {
        let username, name: String
        let sessions, articles, seconds: Int
    }

    /// The maximum length of a session, and how far the app's timer may be ahead of the elapsed time, in seconds.
    private static let longest = 86_400, slack = 120

    private static let session = """
        SELECT id, started_at AS startedAt, seconds, ended_at AS endedAt,
            (SELECT COUNT(*) FROM articles WHERE session = sessions.id) AS articles FROM sessions
        """

    /// The id of a caller in the group of readers.
    ///
    /// - Throws: `403` for another caller.
    func reader(_ caller: Caller) async throws -> String {
        guard try await person(caller.user)?.groups.contains(.readers) == true else {
            throw HTTPError(.forbidden, message: "only readers have sessions")
        }
        return caller.user
    }

    /// Starts a session under the app's id, or returns it if it exists. Another session that runs is returned
    /// unchanged: ending it here would lose the time that its device has not submitted.
    func start(_ id: String, of person: String) async throws -> Start {
        try await database.write { database in
            let owner = try String.fetchOne(
                database, sql: "SELECT person FROM sessions WHERE id = ?", arguments: [id])
            guard owner == nil || owner == person else { throw Conflict.idTaken }
            if owner == nil {
                if let running = try Self.running(of: person, database) { return .running(running) }
                try database.execute(
                    sql: "INSERT INTO sessions (id, person, started_at, seconds) VALUES (?, ?, ?, 0)",
                    arguments: [id, person, Self.now])
            }
            return .started(try Self.find(id, of: person, database))
        }
    }

    /// Stores the app's timer. The time only rises, so repeated or late submissions do no harm.
    ///
    /// - Parameters:
    ///   - article: submitted with the time, under an id of the app.
    ///   - isEnd: whether the session ends. A session that has ended is returned as it is.
    func submit(
        _ seconds: Int, to id: String, of person: String, article: (id: String, title: String)? = nil,
        isEnd: Bool = false
    ) async throws -> Session {
        try await database.write { database in
            let known = try Self.find(id, of: person, database)
            let isRepeatedArticle = try article.map { article in
                let session = try String.fetchOne(
                    database, sql: "SELECT session FROM articles WHERE id = ?", arguments: [article.id])
                guard session == nil || session == id else { throw Conflict.idTaken }
                return session != nil
            }
            // After its end a session does not change.
            if known.endedAt != nil {
                guard isEnd || seconds <= known.seconds, isRepeatedArticle != false else { throw Conflict.ended }
                return known
            }
            let possible = min(Self.longest, Int(Self.now - known.startedAt) + Self.slack)
            try database.execute(
                sql: "UPDATE sessions SET seconds = MAX(seconds, ?) WHERE id = ?",
                arguments: [min(seconds, possible), id])
            if let article, isRepeatedArticle == false {
                try database.execute(
                    sql: "INSERT INTO articles (id, session, title, submitted_at) VALUES (?, ?, ?, ?)",
                    arguments: [article.id, id, article.title, Self.now])
            }
            if isEnd {
                try database.execute(sql: "UPDATE sessions SET ended_at = ? WHERE id = ?", arguments: [Self.now, id])
            }
            return try Self.find(id, of: person, database)
        }
    }

    private static func find(_ id: String, of person: String, _ database: Database) throws -> Session {
        let found = try Session.fetchOne(
            database, sql: "\(session) WHERE id = ? AND person = ?", arguments: [id, person])
        guard let found else { throw Conflict.unknown }
        return found
    }

    func running(of person: String) async throws -> Session? {
        try await database.read { try Self.running(of: person, $0) }
    }

    private static func running(of person: String, _ database: Database) throws -> Session? {
        try Session.fetchOne(
            database, sql: "\(session) WHERE person = ? AND ended_at IS NULL", arguments: [person])
    }

    /// The totals of sessions that began in a period, for one person or for all readers, by name. A session belongs to
    /// the month in which it began.
    func totals(_ span: Range<Int64>, of person: String? = nil) async throws -> [Total] {
        try await database.read { database in
            try Total.fetchAll(
                database,
                sql: """
                    SELECT p.username, p.name, COUNT(*) AS sessions, SUM(s.seconds) AS seconds,
                        SUM((SELECT COUNT(*) FROM articles a WHERE a.session = s.id)) AS articles
                    FROM sessions s JOIN people p ON p.id = s.person
                    WHERE s.started_at >= ? AND s.started_at < ? AND (? IS NULL OR s.person = ?)
                    GROUP BY p.id ORDER BY p.name, p.username
                    """, arguments: [span.lowerBound, span.upperBound, person, person])
        }
    }
}
