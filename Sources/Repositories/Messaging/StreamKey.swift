import Database
import Domain

/// The opened key of one stream of messages.
package struct StreamKey: Sendable {
    private let key: DataKey
    private let stream: MessageStreamID

    init(_ key: DataKey, of stream: MessageStreamID) {
        self.key = key
        self.stream = stream
    }
}

package extension StreamKey {
    /// Seals a text for a column of the stream, or of a message in it.
    func seal(_ text: String, in column: SealedColumn, of message: MessageID? = nil) throws -> [UInt8] {
        try key.seal(text, in: column, row: row(message))
    }

    /// Opens a text that ``seal(_:in:of:)`` sealed for the same place.
    ///
    /// - Throws: ``SealingFailure``.
    func open(_ sealed: [UInt8], in column: SealedColumn, of message: MessageID? = nil) throws -> String {
        try key.open(sealed, in: column, row: row(message))
    }

    private func row(_ message: MessageID?) -> String {
        message.map { "\(stream) \($0)" } ?? stream.description
    }
}

package extension DataKey {
    /// Seals metadata of a message that only one reader sees, under the reader's key.
    func sealMetadata(
        _ text: String, of message: MessageID, in stream: MessageStreamID, for user: UserID
    ) throws -> [UInt8] {
        try seal(text, in: .readerMetadata, row: "\(stream) \(message) \(user)")
    }

    /// Opens a text that ``sealMetadata(_:of:in:for:)`` sealed for the same place.
    ///
    /// - Throws: ``SealingFailure``.
    func openMetadata(
        _ sealed: [UInt8], of message: MessageID, in stream: MessageStreamID, for user: UserID
    ) throws -> String {
        try open(sealed, in: .readerMetadata, row: "\(stream) \(message) \(user)")
    }
}

/// The keys of streams of messages, each wrapped under a version of the wrapping key. Deleting the key makes the stream
/// unreadable, in the store and in every later copy.
package struct StreamKeyRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys

    /// Opens a key that was read with its stream's row.
    func open(_ wrapped: [UInt8], _ version: Int, of stream: MessageStreamID) throws -> StreamKey {
        StreamKey(try open(wrapped, version, stream), of: stream)
    }
}

package extension StreamKeyRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    private static let wrapping = ColumnTuple(Column<[UInt8]>("wrapped"), Column<Int>("wrapping_version"))
    private static let rewrapped = ColumnTuple(
        Column<MessageStreamID>("id"), Column<[UInt8]>("wrapped"), Column<Int>("wrapping_version"))

    /// A new key, and its wrapped form for the stream's row.
    func generate(
        for stream: MessageStreamID
    ) throws -> (key: StreamKey, wrapped: [UInt8], version: Int) {
        let key = DataKey.generate()
        let version = try DataKeyRepository(transaction, keys: keys).versionForNewKeys()
        return (StreamKey(key, of: stream), try wrap(key, version, stream), version)
    }

    /// The key of a stream; `nil` if it was deleted.
    ///
    /// - Throws: ``SealingFailure`` if the wrapping key is missing or the row was tampered with.
    func find(_ stream: MessageStreamID) throws -> StreamKey? {
        guard
            let row = try transaction.first(
                "SELECT \(Self.wrapping) FROM streams WHERE id = $1 AND wrapped IS NOT NULL", [.id(stream)])
        else { return nil }
        let (wrapped, version) = try Self.wrapping.read(row)
        return try open(wrapped, version, of: stream)
    }

    /// Wraps some of the keys under older versions again, under the current version.
    ///
    /// - Parameter mark: the version and id after which to continue.
    func rewrap(
        after mark: (version: Int, stream: MessageStreamID)?, limit: Int
    ) throws -> (wrapped: Int, unreadable: Int, mark: (version: Int, stream: MessageStreamID)?) {
        let current = keys.currentWrappingVersion
        let rows = try transaction.query(
            """
            SELECT \(Self.rewrapped) FROM streams
            WHERE (wrapping_version, id) > ($2, $3) AND wrapping_version < $1 AND wrapping_version IS NOT NULL
            ORDER BY wrapping_version, id LIMIT $4
            """,
            [current.value, (mark?.version ?? 0).value, .text(mark?.stream.description ?? ""), limit.value]
        ).map(Self.rewrapped.read)
        var unreadable = 0
        for (stream, wrapped, version) in rows {
            do {
                let again = try wrap(open(wrapped, version, stream), current, stream)
                try transaction.execute(
                    "UPDATE streams SET wrapped = $2, wrapping_version = $3 WHERE id = $1 AND wrapping_version = $4",
                    [.id(stream), .bytes(again), current.value, version.value])
            } catch is SealingFailure {
                unreadable += 1
            }
        }
        let last = rows.last.map { (version: $0.2, stream: $0.0) }
        return (rows.count - unreadable, unreadable, rows.count < limit ? nil : last)
    }

    /// The number of keys under each version of the wrapping key.
    func countByVersion() throws -> [Int: Int] {
        let counts = ColumnTuple(Column<Int>("wrapping_version"), Column<Int>("COUNT(*)"))
        let rows = try transaction.query(
            "SELECT \(counts) FROM streams WHERE wrapping_version IS NOT NULL GROUP BY wrapping_version")
        return Dictionary(try rows.map(counts.read), uniquingKeysWith: { first, _ in first })
    }

    private func wrap(_ key: DataKey, _ version: Int, _ stream: MessageStreamID) throws -> [UInt8] {
        try key.wrapped(
            under: try keys.wrappingKey(version), version: version, row: stream.description, of: "streams")
    }

    private func open(_ wrapped: [UInt8], _ version: Int, _ stream: MessageStreamID) throws -> DataKey {
        try DataKey(
            wrapped: wrapped, under: try keys.wrappingKey(version), version: version, row: stream.description,
            of: "streams")
    }
}
