import CountersignClient
import Foundation
import GRDB

/// A conversation as a list shows it.
public struct ConversationRow: Sendable, Hashable, Identifiable {
    public let id: UUID
    public let kind: String
    public let state: State
    public let createdBy: UUID?
    public let changedAt: Date
    public let title: String?
    public let about: String?
    public let imageURL: String?
    public let participants: [Participant]
    public let last: ShownMessage?
    /// The number of messages after the user's last read one.
    public let unread: Int64
    public let readThrough: Int64
    /// The reason if the service refused to open or delete it.
    public let refusal: String?

    /// The state of a conversation on this device.
    public enum State: String, Sendable, Hashable {
        /// It was not opened at the service yet.
        case opening
        case open
        /// The permission between the two users has ended.
        case closed
        case left
        /// The service refused to open it.
        case refused
    }
}

/// A page of the user's conversations.
public struct ConversationPage: Sendable, Hashable {
    /// First the conversations that moved after the previous page, then those that follow it, each most recently changed
    /// first. A row with the id of an earlier row replaces that one.
    public let rows: [ConversationRow]
    /// The parameter for loading more; `nil` after the last page.
    public let next: Position?

    /// The place after a page.
    public struct Position: Sendable, Hashable {
        /// Later changes of places are those with a higher number.
        fileprivate let move: Int64
        /// The last row; `nil` before the first.
        fileprivate let last: Last?

        fileprivate struct Last: Sendable, Hashable {
            let changedAt: String
            let stream: String
        }
    }
}

extension LocalStreams {
    /// The user's conversations, most recently changed first.
    public func conversations(limit: Int = 100) async throws(Refusal) -> [ConversationRow] {
        try await conversationPage(limit: limit).rows
    }

    /// The user's conversations by pages. A conversation that gets a message between two pages is on the next page, so none
    /// is left out.
    ///
    /// - Parameter position: ``ConversationPage/next`` of the previous page; `nil` for the first page.
    public func conversationPage(
        after position: ConversationPage.Position? = nil, limit: Int = 100
    ) async throws(Refusal) -> ConversationPage {
        try await read { try $0.conversations(after: position, limit: max(1, limit)) }
    }
}

extension Reconciler {
    func conversations(after position: ConversationPage.Position?, limit: Int) throws -> ConversationPage {
        let newest = try Int64.fetchOne(connection, sql: "SELECT last_move FROM synchronization") ?? 0
        let mark = position?.move ?? newest
        let moved = try Row.fetchAll(
            connection, sql: "SELECT * FROM conversations WHERE state <> 'deleted' AND move > ? ORDER BY move LIMIT ?",
            arguments: [mark, limit])
        // What moved is above, or on a later page.
        let following = try Row.fetchAll(
            connection,
            sql: """
                SELECT * FROM conversations
                WHERE state <> 'deleted' AND move <= ?1
                    AND (?2 IS NULL OR changed_at < ?2 OR (changed_at = ?2 AND stream_id > ?3))
                ORDER BY changed_at DESC, stream_id LIMIT ?4
                """, arguments: [mark, position?.last?.changedAt, position?.last?.stream, limit - moved.count])
        let last = following.last.map {
            ConversationPage.Position.Last(changedAt: $0["changed_at"], stream: $0["stream_id"])
        }
        let next = ConversationPage.Position(move: moved.last?["move"] ?? mark, last: last ?? position?.last)
        let first = try moved.compactMap(conversation).sorted { $0.changedAt > $1.changedAt }
        return ConversationPage(
            rows: first + (try following.compactMap(conversation)),
            next: moved.count + following.count < limit ? nil : next)
    }

    func conversation(_ row: Row) throws -> ConversationRow? {
        guard let stream = UUID(uuidString: row["stream_id"]) else { return nil }
        let (creator, last, read): (String?, Int64, Int64) = (
            row["created_by"], row["last_sequence"], row["read_through"]
        )
        return ConversationRow(
            id: stream, kind: row["kind"], state: ConversationRow.State(rawValue: row["state"]) ?? .closed,
            createdBy: creator.flatMap { UUID(uuidString: $0) }, changedAt: row["changed_at"],
            title: row["title"], about: row["about"], imageURL: row["image_url"],
            participants: try others(in: stream.text),
            last: try messages(of: stream, before: nil, limit: 1).first, unread: max(0, last - read),
            readThrough: read, refusal: row["refusal"])
    }
}
