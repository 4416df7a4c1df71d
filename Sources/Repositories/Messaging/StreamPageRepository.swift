import Database
import Domain

/// Pages of streams as one user sees them, read by a few statements for any number of streams.
package struct StreamPageRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
}

package extension StreamPageRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A stream with its visible contents. Nothing is decrypted yet.
    struct Entry: Sendable {
        package let stream: MessageStream
        package let sealedOpening: [UInt8]?
        fileprivate let wrapped: [UInt8]?
        fileprivate let wrappingVersion: Int?
        /// All present and former members.
        package let members: [StreamMember]
        /// The last message that the user may see. If its body is too long for a page, only the first byte is read.
        package let last: StreamMessage?
    }

    private static let answer = ColumnTuple(
        MessageStreamRepository.columns.of("s"), Column<[UInt8]?>("s.\(SealedColumn.streamOpening.name)"),
        Column<[UInt8]?>("s.wrapped"), Column<Int?>("s.wrapping_version"))
    private static let streams = ListStatement { "SELECT \(answer) FROM streams s WHERE s.id IN \($0.in)" }

    private static let last = ColumnTuple(StreamMessageRepository.columns.of("e"))
    private static let lastMessages = ListStatement(after: 2) { list in
        let body = "e.\(SealedColumn.messageBody.name)"
        let short = "CASE WHEN e.size > $2 THEN substr(\(body), 1, 1) ELSE \(body) END"
        let columns = last.description.replacing(
            body, with: MessageMetadataRepository.visible(short, of: "e", to: "$1"))
        return """
            SELECT \(columns)
            FROM streams s LEFT JOIN stream_members m ON m.stream_id = s.id AND m.user_id = $1
            JOIN stream_events e ON e.stream_id = s.id AND e.sequence = COALESCE(m.left_at_sequence, s.last_sequence)
            WHERE s.id IN \(list.in)
            """
    }

    /// The existing streams among some, deleted or not.
    ///
    /// - Parameter longest: the maximum size of a body in bytes.
    func find(
        _ streams: [MessageStreamID], for user: UserID, longest: Int64
    ) throws -> [MessageStreamID: Entry] {
        let list = streams.map(\.value)
        let rows = try transaction.query(Self.streams, list: list)
        let members = try StreamMemberRepository(transaction).list(of: streams)
        let messages = try transaction.query(Self.lastMessages, [.id(user), longest.value], list: list)
            .map(Self.last.read)
        let last = Dictionary(messages.map { ($0.streamID, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [MessageStreamID: Entry] = [:]
        for row in rows {
            let (stream, opening, wrapped, version) = try Self.answer.read(row)
            found[stream.id] = Entry(
                stream: stream, sealedOpening: opening, wrapped: wrapped, wrappingVersion: version,
                members: members[stream.id] ?? [], last: last[stream.id])
        }
        return found
    }

    /// The key of a stream; `nil` if it was deleted.
    ///
    /// - Throws: ``SealingFailure`` if the wrapping key is missing or the row was tampered with.
    func key(of entry: Entry) throws -> StreamKey? {
        guard let wrapped = entry.wrapped, let version = entry.wrappingVersion else { return nil }
        return try StreamKeyRepository(transaction, keys: keys).open(wrapped, version, of: entry.stream.id)
    }

    private static let metadata = ColumnTuple(
        Column<MessageStreamID>("id"), Column<[UInt8]?>(SealedColumn.streamMetadata.name))
    private static let metadataOfSome = ListStatement { "SELECT \(metadata) FROM streams WHERE id IN \($0.in)" }
    private static let ownMetadata = ColumnTuple(
        Column<MessageStreamID>("stream_id"), Column<[UInt8]?>(SealedColumn.memberMetadata.name))
    private static let ownMetadataOfSome = ListStatement(after: 1) {
        "SELECT \(ownMetadata) FROM stream_members WHERE user_id = $1 AND stream_id IN \($0.in)"
    }

    /// The sealed metadata of some streams: the shared metadata, and the user's own.
    func metadata(
        of streams: [MessageStreamID], for user: UserID
    ) throws -> (shared: [MessageStreamID: [UInt8]], own: [MessageStreamID: [UInt8]]) {
        let list = streams.map(\.value)
        func read(_ rows: [(MessageStreamID, [UInt8]?)]) -> [MessageStreamID: [UInt8]] {
            rows.reduce(into: [:]) { found, row in found[row.0] = row.1 }
        }
        return (
            read(try transaction.query(Self.metadataOfSome, list: list).map(Self.metadata.read)),
            read(try transaction.query(Self.ownMetadataOfSome, [.id(user)], list: list).map(Self.ownMetadata.read))
        )
    }
}
