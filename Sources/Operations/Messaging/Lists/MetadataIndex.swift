import Database
import Domain
import Encoding
import Repositories

/// The blind indexes of metadata. Equal values have equal indexes within one provider if all members see them, and for
/// one user if they are private.
struct MetadataIndex: Sendable {
    let keys: PersonalKeys
    /// The names that the policy declares.
    let names: [String]

    /// Indexes the metadata that all members of a stream see.
    func write(
        _ metadata: StreamMetadata, of stream: MessageStreamID, at provider: ProviderID, in transaction: any Transaction
    ) throws {
        try write(metadata, owner: nil, scope: provider.description, stream, transaction)
    }

    /// Indexes a user's private metadata of a stream.
    func write(
        _ metadata: StreamMetadata, of stream: MessageStreamID, for user: UserID, in transaction: any Transaction
    ) throws {
        try write(metadata, owner: user, scope: user.description, stream, transaction)
    }

    private func write(
        _ metadata: StreamMetadata, owner: UserID?, scope: String, _ stream: MessageStreamID,
        _ transaction: any Transaction
    ) throws {
        var indexes: [String: Digest256] = [:]
        for (name, value) in metadata.indexed(names) {
            indexes[name] = keys.blindIndex(Self.canonical(scope, name, value), .streamMetadata)
        }
        try StreamMetadataRepository(transaction).replace(indexes, of: owner, in: stream)
    }

    /// A value of a filter as the store has it. Indexes of older keys stay until the metadata changes.
    func sought(
        _ metadata: MessageStreamFilter.Metadata, by user: UserID, at provider: ProviderID
    ) -> StreamListRepository.Metadata {
        let scope = metadata.isShared ? provider.description : user.description
        let canonical = Self.canonical(scope, metadata.name, metadata.value)
        return StreamListRepository.Metadata(
            isShared: metadata.isShared, name: metadata.name, indexes: keys.blindIndexes(canonical, .streamMetadata))
    }

    /// Neither an id nor a name contains the separator.
    private static func canonical(_ scope: String, _ name: String, _ value: String) -> String {
        "\(scope)\u{1F}\(name)\u{1F}\(value)"
    }
}

extension Service {
    var metadataIndex: MetadataIndex {
        MetadataIndex(keys: keys.personal, names: policy[\.streams].indexedMetadata)
    }
}
