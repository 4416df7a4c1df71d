import Database
import Domain
import Foundation

package struct MessageStreamRepository {
    private let transaction: any Transaction

    static let columns = Table<MessageStream>(
        "streams", MessageStream.init,
        Field("id", \.id),
        Field("provider_id", \.providerID),
        Field("kind", \.kind),
        Field("created_by", \.createdBy) { ErasureRepository.hidden("\($0).created_by", of: "\($0).created_by") },
        Field("created_at", \.createdAt),
        Field("deleted_at", \.deletedAt),
        Field("last_sequence", \.lastSequence))
}

package extension MessageStreamRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }
    private static let insertion = columns.insertion(
        with: "changed_at", "wrapped", "wrapping_version", SealedColumn.streamOpening.name,
        SealedColumn.streamMetadata.name)

    /// Inserts a stream with its wrapped key.
    ///
    /// - Returns: `false` if the id is taken.
    func insert(
        _ stream: MessageStream, wrapped: [UInt8], version: Int, opening: [UInt8], metadata: [UInt8]?
    ) throws -> Bool {
        try transaction.execute(
            "\(Self.insertion) ON CONFLICT (id) DO NOTHING",
            Self.columns.row(
                stream, .time(stream.createdAt), wrapped.value, version.value, opening.value, metadata.value)) > 0
    }

    /// The stream with an id, deleted or not; `nil` if there is none.
    func find(_ id: MessageStreamID) throws -> MessageStream? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    private static let sealed = ColumnTuple(
        Column<[UInt8]?>(SealedColumn.streamOpening.name), Column<[UInt8]?>(SealedColumn.streamMetadata.name))

    /// The sealed contents of a stream: the request that opened it, and its shared metadata.
    func sealed(of id: MessageStreamID) throws -> (opening: [UInt8]?, metadata: [UInt8]?) {
        try transaction.first("SELECT \(Self.sealed) FROM streams WHERE id = $1", [.id(id)]).map(Self.sealed.read)
            ?? (nil, nil)
    }

    /// Takes the next number of a stream, as this transaction has read it. If another transaction takes it first, this
    /// one is rolled back and runs again. The time of the change is stored only for forums, which are listed by it. For
    /// other streams no indexed column changes.
    ///
    /// - Returns: `nil` if the stream was deleted.
    func takeNumber(of stream: MessageStream, at time: Date) throws -> Int64? {
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

    func setMetadata(_ sealed: [UInt8], of id: MessageStreamID) throws {
        try transaction.execute(
            "UPDATE streams SET sealed_metadata = $2 WHERE id = $1 AND deleted_at IS NULL",
            [.id(id), sealed.value])
    }

    /// Deletes a stream by deleting its key; `false` if it is deleted already.
    func delete(_ id: MessageStreamID, at time: Date) throws -> Bool {
        let deleted = try transaction.execute(
            """
            UPDATE streams SET wrapped = NULL, wrapping_version = NULL, sealed_opening = NULL,
                sealed_metadata = NULL, deleted_at = $2
            WHERE id = $1 AND deleted_at IS NULL
            """, [.id(id), .time(time)])
        if deleted > 0 { try StreamMetadataRepository(transaction).delete(id) }
        return deleted > 0
    }

    /// Removes an erased user as the creator of some streams.
    ///
    /// - Returns: how many.
    @discardableResult
    func erase(createdBy user: UserID, limit: Int = 1000) throws -> Int {
        try transaction.execute(
            """
            UPDATE streams SET created_by = NULL WHERE id IN (
                SELECT id FROM streams WHERE created_by = $1 LIMIT \(limit))
            """, [.id(user)])
    }

    // MARK: Deletion

    private static let removed = ColumnTuple(Column<UserID?>("sender_id"), Column<Int64>("size"))

    /// Deletes rows of the stream that was deleted longest ago, among those that still have rows. They are unreadable
    /// already, because the stream's key is deleted.
    func empty(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let stream: MessageStreamID? = try transaction.value(
            """
            SELECT id FROM streams WHERE deleted_at IS NOT NULL AND is_emptied = 0 ORDER BY deleted_at, id LIMIT 1
            """)
        guard let stream else { return MaintenanceBatch.Outcome(rows: 0, isFinished: true) }
        let metadata = try MessageMetadataRepository(transaction).delete(of: stream, limit: batch.limit)
        guard metadata == 0 else { return MaintenanceBatch.Outcome(rows: metadata, isFinished: false) }
        let rows = try transaction.query(
            """
            DELETE FROM stream_events WHERE stream_id = $1 AND sequence IN (
                SELECT sequence FROM stream_events WHERE stream_id = $1 ORDER BY sequence LIMIT \(batch.limit))
            RETURNING \(Self.removed)
            """, [.id(stream)]
        ).map(Self.removed.read)
        var released: [UserID: Int64] = [:]
        for (sender, size) in rows { if let sender { released[sender, default: 0] += size } }
        try StreamUserRepository(transaction).release(bytes: released)
        if rows.count < batch.limit {
            try transaction.execute("DELETE FROM stream_members WHERE stream_id = $1", [.id(stream)])
            try StreamMetadataRepository(transaction).delete(stream)
            try transaction.execute("DELETE FROM stream_deliveries WHERE stream_id = $1", [.id(stream)])
            try transaction.execute("UPDATE streams SET is_emptied = 1 WHERE id = $1", [.id(stream)])
        }
        return MaintenanceBatch.Outcome(rows: rows.count + 1, isFinished: false)
    }

    private static let deletion = ColumnTuple(Column<MessageStreamID>("id"), Column<Date>("deleted_at"))

    /// Every deleted stream, for a restore.
    func deletions() throws -> [(id: MessageStreamID, at: Date)] {
        try transaction.query("SELECT \(Self.deletion) FROM streams WHERE deleted_at IS NOT NULL").map { row in
            let (id, time) = try Self.deletion.read(row)
            return (id, time)
        }
    }
}
