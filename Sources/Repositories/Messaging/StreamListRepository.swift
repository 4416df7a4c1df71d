import Database
import Domain
import Encoding
import Foundation

/// Lists of streams in the order of their last change, and which of them fit a filter. A statement reads a bounded number
/// of rows in the order of an index, so that a filter which few streams fit costs no more than another one.
package struct StreamListRepository {
    private let transaction: any Transaction
}

package extension StreamListRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// A position in a list.
    struct Mark: Sendable, Equatable {
        /// The number of the change among the user's changes. For a forum its time, in milliseconds since 1970.
        package let number: Int64
        /// Orders forums that changed at the same time.
        package let forum: MessageStreamID?

        package init(number: Int64, forum: MessageStreamID? = nil) { (self.number, self.forum) = (number, forum) }
    }

    enum Range: Sendable, Equatable {
        /// Changes before a position, or all of them, newest first.
        case before(Mark?)
        /// Changes after a position, oldest first.
        case after(Mark)
    }

    typealias Found = (mark: Mark, stream: MessageStreamID, fits: Bool)

    /// The conditions that a listed stream meets.
    struct Filter: Sendable, Equatable {
        package var kind: MessageStream.Kind?
        package var member: UserID?
        package var metadata: [Metadata] = []

        package init() {}
    }

    /// An indexed value of the metadata.
    struct Metadata: Sendable, Equatable {
        let isShared: Bool
        let name: String
        /// The blind indexes of the value under each version of the key.
        let indexes: [Digest256]

        package init(isShared: Bool, name: String, indexes: [Digest256]) {
            (self.isShared, self.name, self.indexes) = (isShared, name, indexes)
        }
    }

    /// The streams of a user.
    ///
    /// - Parameter limit: the number of rows to read, fitting or not.
    func own(of user: UserID, _ range: Range, _ filter: Filter, limit: Int) throws -> [Found] {
        let (comparison, order, mark): (String, String, Int64) =
            switch range {
            case .before(let mark): ("<", "DESC", mark?.number ?? .max)
            case .after(let mark): (">", "ASC", mark.number)
            }
        let condition = Condition(filter, stream: "c.stream_id", isOwn: true, after: 3)
        let columns = ColumnTuple(
            Column<Int64>("c.sequence"), Column<MessageStreamID>("c.stream_id"), Column<Bool>(condition.sql))
        return try transaction.query(
            """
            SELECT \(columns) FROM user_changes c
            WHERE c.user_id = $1 AND c.kind = 'NEW_MESSAGE' AND c.sequence \(comparison) $2
            ORDER BY c.sequence \(order) LIMIT $3
            """, [.id(user), mark.value, limit.value] + condition.arguments
        ).map { row in
            let (number, stream, fits) = try columns.read(row)
            return (mark: Mark(number: number), stream: stream, fits: fits)
        }
    }

    /// The forums of a provider.
    ///
    /// - Parameter limit: the number of rows to read, fitting or not.
    func forums(of provider: ProviderID, _ range: Range, _ filter: Filter, limit: Int) throws -> [Found] {
        let (comparison, order, mark): (String, String, Mark?) =
            switch range {
            case .before(let mark): ("<", "DESC", mark)
            case .after(let mark): (">", "ASC", mark)
            }
        let condition = Condition(filter, stream: "c.id", isOwn: false, after: 4)
        let columns = ColumnTuple(
            Column<Int64>("c.changed_at"), Column<MessageStreamID>("c.id"), Column<Bool>(condition.sql))
        return try transaction.query(
            """
            SELECT \(columns) FROM streams c
            WHERE c.provider_id = $1 AND c.kind = 'forum' AND c.deleted_at IS NULL
                AND (c.changed_at, c.id) \(comparison) ($2, $3)
            ORDER BY c.changed_at \(order), c.id \(order) LIMIT $4
            """,
            [.id(provider), (mark?.number ?? .max).value, .text(mark?.forum?.description ?? ""), limit.value]
                + condition.arguments
        ).map { row in
            let (number, stream, fits) = try columns.read(row)
            return (mark: Mark(number: number, forum: stream), stream: stream, fits: fits)
        }
    }
}

/// A filter as an expression for each row of a list, 1 if the row fits. Each part looks up one row by a primary key.
private struct Condition {
    private(set) var sql = "1"
    private(set) var arguments: [Value] = []
    private let taken: Int

    /// - Parameters:
    ///   - stream: the column with the stream's id.
    ///   - isOwn: whether `$1` is the user and these are the user's streams.
    ///   - taken: the number of parameters that come first.
    init(_ filter: StreamListRepository.Filter, stream: String, isOwn: Bool, after taken: Int) {
        self.taken = taken
        var parts: [String] = []
        if isOwn, let kind = filter.kind {
            parts.append("EXISTS (SELECT 1 FROM streams s WHERE s.id = \(stream) AND s.kind = \(add(kind.value)))")
        }
        // Removed users learn nothing of what changed since.
        if isOwn, filter.member != nil || !filter.metadata.isEmpty { parts.append(Self.member("$1", of: stream)) }
        if let member = filter.member { parts.append(Self.member(add(.id(member)), of: stream)) }
        for metadata in filter.metadata {
            let (name, owner) = (add(.text(metadata.name)), metadata.isShared ? stream : "$1")
            let values = metadata.indexes.map { add($0.value) }.joined(separator: ", ")
            parts.append(
                """
                EXISTS (SELECT 1 FROM stream_metadata i WHERE i.stream_id = \(stream) AND i.owner = \(owner)
                    AND i.name = \(name) AND i.value IN (\(values)))
                """)
        }
        if !parts.isEmpty { sql = "CASE WHEN \(parts.joined(separator: " AND ")) THEN 1 ELSE 0 END" }
    }

    private mutating func add(_ argument: Value) -> String {
        arguments.append(argument)
        return "$\(taken + arguments.count)"
    }

    private static func member(_ user: String, of stream: String) -> String {
        """
        EXISTS (SELECT 1 FROM stream_members m WHERE m.stream_id = \(stream) AND m.user_id = \(user)
            AND m.left_at_sequence IS NULL AND NOT \(ErasureRepository.isUnderWay("m.user_id")))
        """
    }
}
