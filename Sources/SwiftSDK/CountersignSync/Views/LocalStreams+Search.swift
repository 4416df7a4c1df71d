import CountersignClient
import Foundation
import GRDB

/// A message that a search found.
public struct FoundMessage: Sendable, Hashable, Identifiable {
    public let message: ShownMessage
    /// The part of the message's text with most of the words.
    public let excerpt: FoundText

    public var id: UUID { message.id }
}

/// A conversation that a search found, by its title, by the name of another member, or by a message.
public struct FoundConversation: Sendable, Hashable, Identifiable {
    public let conversation: ConversationRow
    /// The title; `nil` if it does not contain the words.
    public let title: FoundText?
    /// The newest message with the words; `nil` if there is none.
    public let message: FoundMessage?

    public var id: UUID { conversation.id }
}

extension LocalStreams {
    /// The largest number of results.
    public static let mostFound = 200

    /// Messages on the device whose text contains all words, newest first.
    ///
    /// Case and accents do not matter, and the last word may be incomplete. Spaces and signs separate words. So a sentence
    /// in a script without spaces is one word, which is found by its beginning.
    ///
    /// - Parameters:
    ///   - text: as the user typed it. Without a letter or a digit it finds nothing.
    ///   - stream: `nil` to search in all conversations.
    ///   - sender: `nil` for messages of all users.
    ///   - limit: at most ``mostFound``.
    public func messages(
        matching text: String, in stream: UUID? = nil, from sender: UUID? = nil, limit: Int = 50
    ) async throws(Refusal) -> [FoundMessage] {
        guard let query = SearchQuery(text) else { return [] }
        let limit = min(max(0, limit), Self.mostFound)
        return try await read { try $0.messages(matching: query, in: stream, from: sender, limit: limit) }
    }

    /// Conversations that contain all words in their title, in the name of another member, or in one message, most recently
    /// changed first. See ``messages(matching:in:from:limit:)`` for the words.
    public func conversations(matching text: String, limit: Int = 50) async throws(Refusal) -> [FoundConversation] {
        guard let query = SearchQuery(text) else { return [] }
        let limit = min(max(0, limit), Self.mostFound)
        return try await read { try $0.conversations(matching: query, limit: limit) }
    }

    /// Removes words of deleted messages from the file, in short steps. What remains is removed after the next
    /// synchronization.
    func removeDeletedWords() async throws(Refusal) {
        for _ in 0..<16 {
            guard try await read({ try $0.hasDeletedWords() }) else { return }
            try await write { try $0.removeDeletedWords() }
        }
    }
}

extension Reconciler {
    // `CROSS JOIN` reads the index once, and not once for each row of the other table.
    private static let matches = """
        messages_index CROSS JOIN messages m ON m.database_identifier = messages_index.rowid
        WHERE messages_index MATCH ?1
        """

    func messages(
        matching query: SearchQuery, in stream: UUID?, from sender: UUID?, limit: Int
    ) throws -> [FoundMessage] {
        let rows = try Int64.fetchAll(
            connection,
            sql: """
                SELECT m.database_identifier FROM \(Self.matches)
                    AND (?2 IS NULL OR m.stream_id = ?2) AND (?3 IS NULL OR m.sender_id = ?3)
                    AND m.stream_id NOT IN (SELECT stream_id FROM conversations WHERE state = 'deleted')
                ORDER BY m.sent_at DESC, m.database_identifier DESC LIMIT ?4
                """, arguments: [query.expression, stream?.text, sender?.text, limit])
        return try messages(rows, matching: query)
    }

    /// Rows of found messages with their excerpts, newest first. An excerpt is expensive, so it is made for these rows only.
    private func messages(_ rows: [Int64], matching query: SearchQuery) throws -> [FoundMessage] {
        let mark = UUID().text
        let found = try Row.fetchAll(
            connection,
            sql: """
                SELECT m.*, snippet(messages_index, 0, ?2, ?2, '…', 24) AS excerpt FROM \(Self.matches)
                    AND +messages_index.rowid IN (\(rows.map { "\($0)" }.joined(separator: ",")))
                ORDER BY m.sent_at DESC, m.database_identifier DESC
                """, arguments: [query.expression, mark])
        return try shown(found).map { message, row in
            FoundMessage(message: message, excerpt: FoundText(row["excerpt"], mark: mark))
        }
    }

    func conversations(matching query: SearchQuery, limit: Int) throws -> [FoundConversation] {
        let titles = try titles(matching: query)
        let newest = try newest(matching: query)
        let found = Set(titles.keys).union(newest.keys).union(try streams(withNamesMatching: query))
        let rows = try Row.fetchAll(
            connection,
            sql: """
                SELECT * FROM conversations WHERE state <> 'deleted' AND stream_id IN (SELECT value FROM json_each(?))
                ORDER BY changed_at DESC, stream_id LIMIT ?
                """,
            arguments: [try Stored.text(found), limit])
        let conversations = try rows.compactMap(conversation)
        let messages = try messages(conversations.compactMap { newest[$0.id.text] }, matching: query)
        let byStream = Dictionary(messages.map { ($0.message.stream, $0) }, uniquingKeysWith: { first, _ in first })
        return conversations.map { one in
            FoundConversation(conversation: one, title: titles[one.id.text], message: byStream[one.id])
        }
    }

    /// The titles that match, with their words marked, by stream.
    private func titles(matching query: SearchQuery) throws -> [String: FoundText] {
        let mark = UUID().text
        let rows = try Row.fetchAll(
            connection,
            sql: """
                SELECT c.stream_id, highlight(conversations_index, 0, ?2, ?2) AS title
                FROM conversations_index CROSS JOIN conversations c ON c.database_identifier = conversations_index.rowid
                WHERE conversations_index MATCH ?1
                """, arguments: [query.expression, mark])
        return Dictionary(
            rows.map { ($0["stream_id"], FoundText($0["title"], mark: mark)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The row of the newest matching message, by stream.
    private func newest(matching query: SearchQuery) throws -> [String: Int64] {
        let rows = try Row.fetchAll(
            connection,
            sql: "SELECT m.stream_id, m.database_identifier, max(m.sent_at) FROM \(Self.matches) GROUP BY m.stream_id",
            arguments: [query.expression])
        return Dictionary(
            rows.map { ($0["stream_id"], $0["database_identifier"]) }, uniquingKeysWith: { first, _ in first })
    }

    private func streams(withNamesMatching query: SearchQuery) throws -> [String] {
        try String.fetchAll(
            connection,
            sql: """
                SELECT s.stream_id
                FROM profiles_index CROSS JOIN profiles p ON p.database_identifier = profiles_index.rowid
                JOIN participants s ON s.user_id = p.user_id
                WHERE profiles_index MATCH ?1 AND p.user_id <> ?2 AND s.is_present = 1
                """, arguments: [query.expression, user.text])
    }
}
