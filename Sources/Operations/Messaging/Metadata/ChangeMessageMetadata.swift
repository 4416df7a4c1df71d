import Database
import Domain
import Encoding
import Repositories

package extension Service {
    /// Changes the metadata of a message that all members see. Users who may append to the stream may change them.
    ///
    /// - Throws: `Refusal` `malformed_request`, `not_found`, also for a deleted message, `user_banned`, `not_verified`,
    ///   `rate_limited`, `unavailable`. `conflict` if the stream is closed, or the quota is used up.
    func changeSharedMessageMetadata(
        _ change: MetadataChange, of message: String, in stream: String, for session: Session
    ) async throws -> JSONValue {
        try await act(for: session, in: stream, ahead: lookAhead(message, in: stream, of: session)) {
            transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.require(.append, stream)
            let message = try access.message(message, in: found)
            let key = try access.key(message.streamID)
            let metadata = MessageMetadataRepository(transaction)
            let present = try metadata.shared(of: message)
            let old = try StreamMetadata.shared(present?.sealed, of: message.id, key)
            let new = try change.applied(to: old, within: .message)
            guard new != old else { return new.value }
            let sealed = new == .empty ? nil : try key.seal(new.value.jsonText, in: .messageMetadata, of: message.id)
            let isOwn = present?.writerID == holder.user.id
            let more = MessageMetadataRepository.size(of: sealed) - (isOwn ? present?.size ?? 0 : 0)
            try requireRoom(forMetadata: more, of: holder.user.id, in: transaction)
            let readers = try StreamMemberRepository(transaction).present(in: message.streamID)
            // All reading ends here: writes are sent together with the commit.
            try metadata.setShared(sealed, of: message, by: holder.user.id)
            try access.note(.updateTags, message.streamID, message.id, for: readers, &events)
            // Last, so that the rows of both writers are locked in the order of the members' rows.
            let users = StreamUserRepository(transaction)
            var changes = [holder.user.id: more]
            if let present, let writer = present.writerID, !isOwn { changes[writer] = -present.size }
            for (user, bytes) in changes.sorted(by: { $0.key.description < $1.key.description }) {
                try bytes < 0 ? users.release(bytes: -bytes, of: user) : users.add(bytes: bytes, of: user)
            }
            return new.value
        }
    }

    /// Changes the metadata of a message that only the user sees, sealed under the user's own key.
    ///
    /// - Throws: `Refusal` `malformed_request`, `not_found`, also for a deleted message, `rate_limited`, `unavailable`.
    ///   `conflict` for a forum, for a removed member, if the stream is closed, or the quota is used up.
    func changeOwnMessageMetadata(
        _ change: MetadataChange, of message: String, in stream: String, for session: Session
    ) async throws -> JSONValue {
        let keys = keys.personal
        return try await act(for: session, in: stream, ahead: lookAhead(message, in: stream, of: session)) {
            transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.require(.acknowledge, stream)
            let (message, user) = (try access.message(message, in: found), holder.user.id)
            let metadata = MessageMetadataRepository(transaction)
            let present = try metadata.own(of: message, for: user)
            let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user)
            let old = try StreamMetadata.own(present?.sealed, of: message.id, in: message.streamID, user, key)
            let new = try change.applied(to: old, within: .message)
            guard new != old else { return new.value }
            let sealed =
                new == .empty
                ? nil : try key.sealMetadata(new.value.jsonText, of: message.id, in: message.streamID, for: user)
            let more = MessageMetadataRepository.size(of: sealed) - (present?.size ?? 0)
            try requireRoom(forMetadata: more, of: user, in: transaction)
            try metadata.setOwn(sealed, of: message, for: user)
            try access.note(.updateTags, message.streamID, message.id, for: [user], &events)
            try StreamUserRepository(transaction).add(bytes: more, of: user)
            return new.value
        }
    }

    private func lookAhead(_ message: String, in stream: String, of session: Session) -> SessionHolder.Ahead {
        MessageStreamAccess.lookAhead(stream, of: session) { stream, transaction in
            guard let message = MessageID(message[...]) else { return }
            _ = try StreamMessageRepository(transaction).find(message, in: stream)
        }
    }

    /// A change that takes no more bytes is not refused.
    private func requireRoom(forMetadata more: Int64, of user: UserID, in transaction: any Transaction) throws {
        let limit = Int64(policy[\.streams].storedBytes)
        guard try more <= 0 || StreamUserRepository(transaction).storedBytes(of: user) <= limit - more else {
            throw Refusal.messagesExhausted(limit)
        }
    }
}

extension MessageStreamAccess {
    /// A message that the user may see, and that is deleted neither for all nor for the user.
    ///
    /// - Throws: `Refusal` `not_found`.
    func message(_ text: String, in found: Found) throws -> StreamMessage {
        guard let id = MessageID(text[...]),
            let message = try StreamMessageRepository(transaction).find(id, in: found.stream.id),
            message.sequence <= found.lastVisible, message.sealedBody != nil,
            try MessageMetadataRepository(transaction).own(of: message, for: user.id).map({ $0.sealed != nil }) ?? true
        else { throw Refusal.unknownMessage }
        return message
    }
}
