import Database
import Domain
import Foundation

/// The members of streams of messages, with those who were removed.
package struct StreamMemberRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Selection(StreamMemberColumns.self)

    /// Adds a user, or admits one again who was removed. A member stays as they are.
    package func admit(_ member: StreamMember) throws {
        try transaction.execute(
            """
            INSERT INTO stream_members (\(Self.columns.all)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (stream_id, user_id) DO UPDATE SET left_at_sequence = NULL
            """, Self.columns.row { $0.write(member, to: &$1) })
    }

    /// A user in a stream, now or before.
    package func find(_ user: UserID, in stream: MessageStreamID) throws -> StreamMember? {
        try transaction.first(
            "SELECT \(Self.columns) FROM stream_members WHERE stream_id = $1 AND user_id = $2",
            [.id(stream), .id(user)]
        ).map(Self.columns.each.member)
    }

    /// Everybody who is or was in a stream, in the order of their ids.
    package func list(of stream: MessageStreamID) throws -> [StreamMember] {
        try transaction.query(
            "SELECT \(Self.columns) FROM stream_members WHERE stream_id = $1 ORDER BY user_id", [.id(stream)]
        ).map(Self.columns.each.member)
    }

    private static let ofSome = ListStatement {
        "SELECT \(columns) FROM stream_members WHERE stream_id IN \($0.in) ORDER BY stream_id, user_id"
    }

    /// The same of some streams.
    package func list(of streams: [MessageStreamID]) throws -> [MessageStreamID: [StreamMember]] {
        let members = try transaction.query(Self.ofSome, list: streams.map(\.value)).map(Self.columns.each.member)
        return Dictionary(grouping: members, by: \.streamID)
    }

    /// The users who are in a stream now, in the order of their ids.
    package func present(in stream: MessageStreamID) throws -> [UserID] {
        try list(of: stream).filter { $0.leftAt == nil }.map(\.userID)
    }

    /// The members whose devices can be reached by a push, besides one.
    package func pushed(in stream: MessageStreamID, besides user: UserID) throws -> [StreamMember] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM stream_members
            WHERE stream_id = $1 AND user_id <> $2 AND left_at_sequence IS NULL AND user_id IN (
                SELECT a.user_id FROM authenticated_users a
                WHERE a.user_id = stream_members.user_id AND a.push_endpoint IS NOT NULL)
            ORDER BY user_id
            """, [.id(stream), .id(user)]
        ).map(Self.columns.each.member)
    }

    /// Removes a user, who keeps what there is up to a message.
    package func leave(_ user: UserID, _ stream: MessageStreamID, at sequence: Int64) throws {
        try transaction.execute(
            """
            UPDATE stream_members SET left_at_sequence = $3
            WHERE stream_id = $1 AND user_id = $2 AND left_at_sequence IS NULL
            """, [.id(stream), .id(user), sequence.value])
    }

    package func setReceipts(
        _ receipts: (delivered: Int64, read: Int64), of user: UserID, in stream: MessageStreamID
    ) throws {
        try transaction.enqueue(
            """
            UPDATE stream_members SET delivered_through = $3, read_through = $4
            WHERE stream_id = $1 AND user_id = $2
            """, [.id(stream), .id(user), receipts.delivered.value, receipts.read.value])
    }

    /// A member's private metadata, sealed under the member's own key.
    package func metadata(of user: UserID, in stream: MessageStreamID) throws -> [UInt8]? {
        try transaction.value(
            "SELECT \(SealedColumn.memberMetadata.name) FROM stream_members WHERE stream_id = $1 AND user_id = $2",
            [.id(stream), .id(user)], as: [UInt8]?.self) ?? nil
    }

    package func setMetadata(_ sealed: [UInt8], of user: UserID, in stream: MessageStreamID) throws {
        try transaction.execute(
            "UPDATE stream_members SET sealed_metadata = $3 WHERE stream_id = $1 AND user_id = $2",
            [.id(stream), .id(user), sealed.value])
    }

    /// The streams that a user is or was in, in the order of their ids.
    package func streams(of user: UserID, limit: Int) throws -> [StreamMember] {
        try transaction.query(
            "SELECT \(Self.columns) FROM stream_members WHERE user_id = $1 ORDER BY stream_id LIMIT $2",
            [.id(user), limit.value]
        ).map(Self.columns.each.member)
    }

    /// Everybody else who is or was in a stream with a user.
    package func readers(besides user: UserID) throws -> [UserID] {
        try transaction.values(
            """
            SELECT DISTINCT o.user_id FROM stream_members m
            JOIN stream_members o ON o.stream_id = m.stream_id AND o.user_id <> m.user_id
            WHERE m.user_id = $1 ORDER BY o.user_id
            """, [.id(user)])
    }

    package func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM stream_members WHERE user_id = $1", [.id(user)])
    }
}

/// The columns of `stream_members`. The sealed one has statements of its own.
private struct StreamMemberColumns: ColumnSet {
    let streamID: Column<MessageStreamID>
    let userID: Column<UserID>
    let joinedAt: Column<Int64>
    let leftAt: Column<Int64?>
    let deliveredThrough: Column<Int64>
    let readThrough: Column<Int64>

    init(_ list: inout ColumnList) {
        streamID = list.add("stream_id")
        userID = list.add("user_id")
        joinedAt = list.add("joined_at_sequence")
        leftAt = list.add("left_at_sequence")
        deliveredThrough = list.add("delivered_through")
        readThrough = list.add("read_through")
    }

    func member(_ row: Row) throws -> StreamMember {
        StreamMember(
            streamID: try row[streamID], userID: try row[userID], joinedAt: try row[joinedAt],
            leftAt: try row[leftAt], deliveredThrough: try row[deliveredThrough], readThrough: try row[readThrough])
    }

    func write(_ member: StreamMember, to row: inout NewRow) {
        row.set(streamID, member.streamID)
        row.set(userID, member.userID)
        row.set(joinedAt, member.joinedAt)
        row.set(leftAt, member.leftAt)
        row.set(deliveredThrough, member.deliveredThrough)
        row.set(readThrough, member.readThrough)
    }
}
