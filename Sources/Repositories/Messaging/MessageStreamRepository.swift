import Database
import Domain
import Foundation

/// Streams of messages.
package struct MessageStreamRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Selection(MessageStreamColumns.self)

    /// Inserts a stream with its wrapped key.
    ///
    /// - Returns: `false` if the id is taken.
    package func insert(
        _ stream: MessageStream, wrapped: [UInt8], version: Int, opening: [UInt8], metadata: [UInt8]?
    ) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO streams (\(Self.columns.all)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (id) DO NOTHING
            """,
            Self.columns.row { columns, row in
                columns.write(stream, to: &row)
                row.set(columns.wrapped, wrapped)
                row.set(columns.wrappingVersion, version)
                row.set(columns.sealedOpening, opening)
                row.set(columns.sealedMetadata, metadata)
            }) > 0
    }

    /// The stream with an id, deleted or not; `nil` if there is none.
    package func find(_ id: MessageStreamID) throws -> MessageStream? {
        try transaction.first("SELECT \(Self.columns) FROM streams WHERE id = $1", [.id(id)])
            .map(Self.columns.each.stream)
    }

    private static let sealed = ColumnTuple(
        Column<[UInt8]?>(SealedColumn.streamOpening.name), Column<[UInt8]?>(SealedColumn.streamMetadata.name))

    /// What is sealed of a stream: the request that opened it, and its shared metadata.
    package func sealed(of id: MessageStreamID) throws -> (opening: [UInt8]?, metadata: [UInt8]?) {
        try transaction.first("SELECT \(Self.sealed) FROM streams WHERE id = $1", [.id(id)]).map(Self.sealed.read)
            ?? (nil, nil)
    }

    /// Takes the next number of a stream as this transaction has read it: whoever takes it meanwhile makes this one
    /// begin again, and nobody else does. The time of the change is kept for forums alone, which are listed by it:
    /// elsewhere no column of an index changes.
    ///
    /// - Returns: `nil` if the stream was deleted.
    package func takeNumber(of stream: MessageStream, at time: Date) throws -> Int64? {
        guard stream.deletedAt == nil else { return nil }
        let (number, isOver) = stream.lastSequence.addingReportingOverflow(1)
        guard !isOver else { return nil }
        try transaction.enqueue(
            """
            UPDATE streams SET last_sequence = $3,
                changed_at = CASE kind WHEN 'forum' THEN $2 ELSE changed_at END
            WHERE id = $1 AND deleted_at IS NULL
            """, [.id(stream.id), .time(time), number.value])
        return number
    }

    package func setMetadata(_ sealed: [UInt8], of id: MessageStreamID) throws {
        try transaction.execute(
            "UPDATE streams SET sealed_metadata = $2 WHERE id = $1 AND deleted_at IS NULL",
            [.id(id), sealed.value])
    }

    /// Deletes a stream by deleting its key; returns `false` if it was deleted before.
    package func delete(_ id: MessageStreamID, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            UPDATE streams SET wrapped = NULL, wrapping_version = NULL, sealed_opening = NULL,
                sealed_metadata = NULL, deleted_at = $2
            WHERE id = $1 AND deleted_at IS NULL
            """, [.id(id), .time(time)]) > 0
    }

    /// A provider's forums after a mark, newest change first, in the order of an index.
    package func forums(
        of provider: ProviderID, before mark: (at: Date, id: MessageStreamID)?, limit: Int
    ) throws -> [(stream: MessageStream, changedAt: Date)] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM streams
            WHERE provider_id = $1 AND kind = 'forum' AND deleted_at IS NULL AND (changed_at, id) < ($2, $3)
            ORDER BY changed_at DESC, id DESC LIMIT $4
            """,
            [
                .id(provider), mark.map { .time($0.at) } ?? .integer(.max), .text(mark?.id.description ?? ""),
                limit.value,
            ]
        ).map { (try Self.columns.each.stream($0), try $0[Self.columns.each.changedAt]) }
    }

    /// Forgets who opened streams: after an erasure.
    package func erase(createdBy user: UserID) throws {
        try transaction.execute("UPDATE streams SET created_by = NULL WHERE created_by = $1", [.id(user)])
    }

    // MARK: What is deleted

    private static let removed = ColumnTuple(Column<UserID?>("sender_id"), Column<Int64>("size"))

    /// Removes rows of the stream that was deleted first of those that still have some. Its key is gone, so nothing of
    /// it can be read before.
    package func empty(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let stream: MessageStreamID? = try transaction.value(
            """
            SELECT id FROM streams WHERE deleted_at IS NOT NULL AND is_emptied = 0 ORDER BY deleted_at, id LIMIT 1
            """)
        guard let stream else { return MaintenanceBatch.Outcome(rows: 0, isFinished: true) }
        let rows = try transaction.query(
            """
            DELETE FROM stream_events WHERE stream_id = $1 AND sequence IN (
                SELECT sequence FROM stream_events WHERE stream_id = $1 ORDER BY sequence LIMIT \(batch.limit))
            RETURNING \(Self.removed)
            """, [.id(stream)]
        ).map(Self.removed.read)
        var released: [UserID: Int64] = [:]
        for (sender, size) in rows { if let sender { released[sender, default: 0] += size } }
        let users = StreamUserRepository(transaction)
        for (sender, size) in released.sorted(by: { $0.key.description < $1.key.description }) {
            try users.release(bytes: size, of: sender)
        }
        if rows.count < batch.limit {
            try transaction.execute("DELETE FROM stream_members WHERE stream_id = $1", [.id(stream)])
            try transaction.execute("UPDATE streams SET is_emptied = 1 WHERE id = $1", [.id(stream)])
        }
        return MaintenanceBatch.Outcome(rows: rows.count + 1, isFinished: false)
    }

    private static let deletion = ColumnTuple(Column<MessageStreamID>("id"), Column<Date>("deleted_at"))

    /// Every stream that was deleted, for a restore.
    package func deletions() throws -> [(id: MessageStreamID, at: Date)] {
        try transaction.query("SELECT \(Self.deletion) FROM streams WHERE deleted_at IS NOT NULL").map { row in
            let (id, time) = try Self.deletion.read(row)
            return (id, time)
        }
    }
}

/// The columns of `streams`. `is_emptied` has its default.
struct MessageStreamColumns: ColumnSet {
    let id: Column<MessageStreamID>
    let providerID: Column<ProviderID>
    let kind: Column<MessageStream.Kind>
    let createdBy: Column<UserID?>
    let lastSequence: Column<Int64>
    let createdAt: Column<Date>
    let changedAt: Column<Date>
    let deletedAt: Column<Date?>
    let wrapped: Column<[UInt8]>
    let wrappingVersion: Column<Int>
    let sealedOpening: Column<[UInt8]>
    let sealedMetadata: Column<[UInt8]?>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        providerID = list.add("provider_id")
        kind = list.add("kind")
        createdBy = list.add("created_by")
        lastSequence = list.add("last_sequence")
        createdAt = list.add("created_at")
        changedAt = list.add("changed_at")
        deletedAt = list.add("deleted_at")
        wrapped = list.addWritten("wrapped")
        wrappingVersion = list.addWritten("wrapping_version")
        sealedOpening = list.addWritten(SealedColumn.streamOpening.name)
        sealedMetadata = list.addWritten(SealedColumn.streamMetadata.name)
    }

    func stream(_ row: Row) throws -> MessageStream {
        MessageStream(
            id: try row[id], providerID: try row[providerID], kind: try row[kind], createdBy: try row[createdBy],
            createdAt: try row[createdAt], deletedAt: try row[deletedAt],
            lastSequence: try row[lastSequence])
    }

    func write(_ stream: MessageStream, to row: inout NewRow) {
        row.set(id, stream.id)
        row.set(providerID, stream.providerID)
        row.set(kind, stream.kind)
        row.set(createdBy, stream.createdBy)
        row.set(lastSequence, stream.lastSequence)
        row.set(createdAt, stream.createdAt)
        row.set(changedAt, stream.createdAt)
        row.set(deletedAt, stream.deletedAt)
    }
}
