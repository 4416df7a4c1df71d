import Database
import Domain
import Encoding
import Repositories

extension StreamMetadata {
    /// Decrypts the metadata of a message that all members see.
    static func shared(_ sealed: [UInt8]?, of message: MessageID, _ key: StreamKey) throws -> StreamMetadata {
        guard let sealed else { return .empty }
        return StreamMetadata(
            stored: try StrictJSON.parse(Array(try key.open(sealed, in: .messageMetadata, of: message).utf8)))
    }

    /// Decrypts the metadata of a message that only the user sees.
    ///
    /// - Parameter key: the user's own key; `nil` if there is none.
    static func own(
        _ sealed: [UInt8]?, of message: MessageID, in stream: MessageStreamID, _ user: UserID, _ key: DataKey?
    ) throws -> StreamMetadata {
        guard let sealed, let key else { return .empty }
        let text = try key.openMetadata(sealed, of: message, in: stream, for: user)
        return StreamMetadata(stored: try StrictJSON.parse(Array(text.utf8)))
    }
}

/// A message's number and its current metadata, as one user sees them.
package struct MessageMetadataView: Sendable, Confidential {
    package let sequence: Int64
    package let shared: StreamMetadata
    package let own: StreamMetadata

    /// Its approximate number of bytes in a response.
    var weight: Int { 256 + shared.value.jsonText.utf8.count + own.value.jsonText.utf8.count }
}

/// The changed metadata of messages for one synchronization, read by one statement.
struct ChangedMessageMetadata {
    private let access: MessageStreamAccess
    private let found: [Int64: MessageMetadataRepository.Changed]
    private let key: DataKey?

    /// - Parameter entries: the changes of the synchronization, oldest first.
    init(_ access: MessageStreamAccess, of entries: ArraySlice<StreamUserRepository.Entry>) throws {
        self.access = access
        let tagged = entries.filter { $0.kind == .updateTags && $0.message != nil }
        guard let first = tagged.first, let last = tagged.last else {
            (found, key) = ([:], nil)
            return
        }
        found = try MessageMetadataRepository(access.transaction).changed(
            of: access.user.id, from: first.sequence, through: last.sequence)
        let hasOwn = found.values.contains { $0.own != nil }
        let keys = DataKeyRepository(access.transaction, keys: access.context.keys.personal)
        key = hasOwn ? try keys.find(access.user.id) : nil
    }

    /// The metadata for a change; `nil` if the message was deleted since, or the user may not see the metadata.
    func view(for entry: StreamUserRepository.Entry, _ views: inout MessageStreamViews) throws -> MessageMetadataView? {
        guard let changed = found[entry.sequence], let stream = try views.view(of: entry.stream, isWhole: false),
            stream.state == .open
        else { return nil }
        return MessageMetadataView(
            sequence: changed.sequence,
            shared: try changed.shared.map {
                try StreamMetadata.shared($0, of: changed.message, try views.key(of: entry.stream))
            } ?? .empty,
            own: try StreamMetadata.own(changed.own, of: changed.message, in: entry.stream, access.user.id, key))
    }
}
