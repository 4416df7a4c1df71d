import Database
import Domain
import Encoding
import Repositories

package extension Service {
    enum MetadataChange: Sendable {
        /// Replaces the existing metadata as a whole.
        case set(StreamMetadata)
        /// Applies a merge patch (RFC 7396).
        case merge(JSONValue)

        /// - Parameter bounds: those of the stream's or the message's metadata.
        func applied(
            to present: StreamMetadata, within bounds: StreamMetadata.Bounds
        ) throws(Refusal) -> StreamMetadata {
            switch self {
            case .set(let metadata): try StreamMetadata(metadata.value, about: .newMetadata, within: bounds)
            case .merge(let patch): try present.merged(with: patch, about: .metadataPatch, within: bounds)
            }
        }
    }

    /// Changes the metadata that all members see.
    ///
    /// - Throws: `Refusal` `malformed_request`, `not_found`, `user_banned`, `not_verified`, `conflict`, `rate_limited`.
    func changeSharedMetadata(_ change: MetadataChange, in stream: String, for session: Session) async throws
        -> JSONValue
    {
        try await act(
            for: session, in: stream, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.require(.changeMetadata, stream).stream
            let id = found.id
            let (key, streams) = (try access.key(id), MessageStreamRepository(transaction))
            let changed = try change.applied(
                to: try StreamMetadata.shared(id, key, in: transaction), within: .stream)
            try streams.setMetadata(try key.seal(changed.value.jsonText, in: .streamMetadata), of: id)
            try metadataIndex.write(changed, of: id, at: found.providerID, in: transaction)
            try access.note(
                .updateTags, id, for: try StreamMemberRepository(transaction).present(in: id), &events)
            return changed.value
        }
    }

    /// Changes metadata that only the user sees, sealed under the user's own key.
    ///
    /// - Throws: `Refusal` `malformed_request`, `not_found`, `conflict`, `rate_limited`, `unavailable`.
    func changeOwnMetadata(_ change: MetadataChange, in stream: String, for session: Session) async throws
        -> JSONValue
    {
        let keys = keys.personal
        return try await act(
            for: session, in: stream, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let id = try access.require(.acknowledge, stream).stream.id
            let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(holder.user.id)
            let members = StreamMemberRepository(transaction)
            let changed = try change.applied(
                to: try StreamMetadata.kept(id, of: holder.user.id, keys, in: transaction), within: .stream)
            try members.setMetadata(
                try key.seal(changed.value.jsonText, in: .memberMetadata, of: id), of: holder.user.id, in: id)
            try metadataIndex.write(changed, of: id, for: holder.user.id, in: transaction)
            try access.note(.updateTags, id, for: [holder.user.id], &events)
            return changed.value
        }
    }
}

extension StreamMetadata {
    static func shared(
        _ stream: MessageStreamID, _ key: StreamKey, in transaction: any Transaction
    ) throws -> StreamMetadata {
        try shared(try MessageStreamRepository(transaction).sealed(of: stream).metadata, key)
    }

    /// Decrypts the metadata that all members see.
    static func shared(_ sealed: [UInt8]?, _ key: StreamKey) throws -> StreamMetadata {
        guard let sealed else { return .empty }
        return StreamMetadata(
            stored: try StrictJSON.parse(Array(try key.open(sealed, in: .streamMetadata).utf8)))
    }

    static func kept(
        _ stream: MessageStreamID, of user: UserID, _ keys: PersonalKeys, in transaction: any Transaction
    ) throws -> StreamMetadata {
        try kept(try StreamMemberRepository(transaction).metadata(of: user, in: stream), stream) {
            try DataKeyRepository(transaction, keys: keys).find(user)
        }
    }

    /// Decrypts the metadata that only the user sees.
    ///
    /// - Parameter key: finds the user's own key; called only if there is metadata.
    static func kept(
        _ sealed: [UInt8]?, _ stream: MessageStreamID, key: () throws -> DataKey?
    ) throws -> StreamMetadata {
        guard let sealed, let key = try key() else { return .empty }
        return StreamMetadata(
            stored: try StrictJSON.parse(Array(try key.open(sealed, in: .memberMetadata, of: stream).utf8)))
    }
}
