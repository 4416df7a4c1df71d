import Database
import Domain
import Encoding

/// The blind indexes of indexed metadata, by which streams are found. The metadata itself is sealed in other tables.
package struct StreamMetadataRepository {
    private let transaction: any Transaction

    /// Deletes the indexes of all metadata of a stream.
    func delete(_ stream: MessageStreamID) throws {
        try transaction.enqueue("DELETE FROM stream_metadata WHERE stream_id = $1", [.id(stream)])
    }

    /// Deletes the indexes of a user's private metadata of a stream.
    func delete(of user: UserID, in stream: MessageStreamID) throws {
        try transaction.enqueue(
            "DELETE FROM stream_metadata WHERE stream_id = $1 AND owner = $2", [.id(stream), .id(user)])
    }
}

package extension StreamMetadataRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<MessageStreamID>("stream_id"), Column<String>("owner"), Column<String>("name"),
        Column<Digest256>("value"))

    /// Replaces the indexes of a stream's shared metadata, or of a user's private metadata of it.
    ///
    /// - Parameters:
    ///   - user: `nil` for the shared metadata, whose owner is the stream.
    ///   - indexes: the blind index of each indexed value, by its name.
    func replace(_ indexes: [String: Digest256], of user: UserID?, in stream: MessageStreamID) throws {
        let owner = user?.description ?? stream.description
        try transaction.enqueue(
            "DELETE FROM stream_metadata WHERE stream_id = $1 AND owner = $2", [.id(stream), .text(owner)])
        for (name, index) in indexes.sorted(by: { $0.key < $1.key }) {
            try transaction.enqueue(
                "INSERT INTO stream_metadata (\(Self.columns)) VALUES (\(Self.columns.placeholders))",
                Self.columns.row(stream, owner, name, index))
        }
    }
}
