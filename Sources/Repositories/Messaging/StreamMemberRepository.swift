import Database
import Domain
import Foundation

/// The members of streams of messages, including removed ones.
package struct StreamMemberRepository {
    private let transaction: any Transaction

    /// All present and former members of some streams, by id.
    func list(of streams: [MessageStreamID]) throws -> [MessageStreamID: [StreamMember]] {
        let members = try transaction.query(Self.ofSome, list: streams.map(\.value)).map(Self.columns.read)
        return Dictionary(grouping: members, by: \.streamID)
    }
}

package extension StreamMemberRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The sealed column has its own statements.
    private static let columns = Table<StreamMember>(
        "stream_members", StreamMember.init,
        Field("stream_id", \.streamID),
        Field("user_id", \.userID),
        Field("joined_at_sequence", \.joinedAt),
        Field("left_at_sequence", \.leftAt),
        Field("delivered_through", \.deliveredThrough),
        Field("read_through", \.readThrough))
    /// Readers do not see a member who is being erased.
    private static let isThere = "NOT \(ErasureRepository.isUnderWay("stream_members.user_id"))"

    /// Adds a user, or admits a removed member again. A present member is not changed.
    func admit(_ member: StreamMember) throws {
        try transaction.execute(
            "\(Self.columns.insertion) ON CONFLICT (stream_id, user_id) DO UPDATE SET left_at_sequence = NULL",
            Self.columns.row(member))
    }

    /// A present or former member of a stream.
    func find(_ user: UserID, in stream: MessageStreamID) throws -> StreamMember? {
        try transaction.first(
            Self.columns, "WHERE stream_id = $1 AND user_id = $2 AND \(Self.isThere)", [.id(stream), .id(user)])
    }

    /// All present and former members of a stream, by id.
    func list(of stream: MessageStreamID) throws -> [StreamMember] {
        try transaction.query(Self.columns, "WHERE stream_id = $1 AND \(Self.isThere) ORDER BY user_id", [.id(stream)])
    }

    private static let ofSome = ListStatement {
        """
        SELECT \(columns) FROM stream_members WHERE stream_id IN \($0.in) AND \(isThere) ORDER BY stream_id, user_id
        """
    }

    /// The present members of a stream, by id.
    func present(in stream: MessageStreamID) throws -> [UserID] {
        try list(of: stream).filter { $0.leftAt == nil }.map(\.userID)
    }

    /// It stops at the first common conversation of each user.
    private static let companionsAmongSome = ListStatement(after: 1) { list in
        """
        SELECT u.id FROM users u WHERE u.id IN \(list.in) AND NOT \(ErasureRepository.isUnderWay("u.id")) AND EXISTS (
            SELECT 1 FROM stream_members t JOIN stream_members o ON o.stream_id = t.stream_id
            JOIN streams s ON s.id = t.stream_id
            WHERE t.user_id = u.id AND t.left_at_sequence IS NULL AND o.user_id = $1 AND o.left_at_sequence IS NULL
                AND s.kind = 'conversation' AND s.deleted_at IS NULL)
        """
    }

    /// The users among some that are members of a conversation with a user.
    func companions(of user: UserID, among others: [UserID]) throws -> Set<UserID> {
        let rows = try transaction.query(Self.companionsAmongSome, [.id(user)], list: others.map(\.value))
        return Set(try rows.map { try UserID.read($0, 0) })
    }

    private static let devices = ColumnTuple(columns.of("stream_members"), Column<DeviceID>("p.device_id"))

    /// The devices of the members except one that can be reached by a push.
    func pushed(
        in stream: MessageStreamID, besides user: UserID
    ) throws -> [(member: StreamMember, device: DeviceID)] {
        try transaction.query(
            """
            SELECT \(Self.devices) FROM stream_members
            JOIN push_endpoints p ON p.user_id = stream_members.user_id
                AND p.\(SealedColumn.pushEndpoint.name) IS NOT NULL
            WHERE stream_members.stream_id = $1 AND stream_members.user_id <> $2
                AND stream_members.left_at_sequence IS NULL AND \(Self.isThere)
            ORDER BY stream_members.user_id, p.device_id
            """, [.id(stream), .id(user)]
        ).map { row in
            let (member, device) = try Self.devices.read(row)
            return (member, device)
        }
    }

    /// Removes a member, who keeps access to messages up to a number.
    func leave(_ user: UserID, _ stream: MessageStreamID, at sequence: Int64) throws {
        try transaction.execute(
            """
            UPDATE stream_members SET left_at_sequence = $3
            WHERE stream_id = $1 AND user_id = $2 AND left_at_sequence IS NULL
            """, [.id(stream), .id(user), sequence.value])
    }

    func setReceipts(
        _ receipts: (delivered: Int64, read: Int64), of user: UserID, in stream: MessageStreamID
    ) throws {
        try transaction.enqueue(
            """
            UPDATE stream_members SET delivered_through = $3, read_through = $4
            WHERE stream_id = $1 AND user_id = $2
            """, [.id(stream), .id(user), receipts.delivered.value, receipts.read.value])
    }

    /// A member's private metadata, sealed under the member's own key.
    func metadata(of user: UserID, in stream: MessageStreamID) throws -> [UInt8]? {
        try transaction.value(
            "SELECT \(SealedColumn.memberMetadata.name) FROM stream_members WHERE stream_id = $1 AND user_id = $2",
            [.id(stream), .id(user)], as: [UInt8]?.self) ?? nil
    }

    func setMetadata(_ sealed: [UInt8], of user: UserID, in stream: MessageStreamID) throws {
        try transaction.execute(
            "UPDATE stream_members SET sealed_metadata = $3 WHERE stream_id = $1 AND user_id = $2",
            [.id(stream), .id(user), sealed.value])
    }

    /// The streams with a user as a present or former member, by id.
    func streams(of user: UserID, limit: Int) throws -> [StreamMember] {
        try transaction.query(
            Self.columns, "WHERE user_id = $1 AND \(Self.isThere) ORDER BY stream_id LIMIT $2",
            [.id(user), limit.value])
    }

    /// The first stream that has an erased user as a member; `nil` if there is none left.
    func firstStream(ofErased user: UserID) throws -> MessageStreamID? {
        try transaction.value(
            "SELECT stream_id FROM stream_members WHERE user_id = $1 ORDER BY stream_id LIMIT 1", [.id(user)])
    }

    /// Deletes a user's membership of a stream, and the deliveries to the user's devices.
    func erase(_ user: UserID, in stream: MessageStreamID) throws {
        try StreamMetadataRepository(transaction).delete(of: user, in: stream)
        try StreamDeliveryRepository(transaction).erase(user, in: stream)
        try transaction.enqueue(
            "DELETE FROM stream_members WHERE stream_id = $1 AND user_id = $2", [.id(stream), .id(user)])
    }
}
