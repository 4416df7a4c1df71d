import Database
import Domain
import Repositories

package extension Service {
    /// Deletes a stream for all members by deleting its key. A repetition changes nothing.
    ///
    /// - Throws: `Refusal` `not_found`, also for a user who did not open the forum, `user_banned`, `not_verified`,
    ///   `conflict`, `unavailable`.
    func deleteMessageStream(_ stream: String, for session: Session) async throws {
        try await act(
            for: session, in: stream, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.find(stream)
            let isOwn = found.stream.createdBy == holder.user.id || found.member != nil
            if found.stream.deletedAt != nil, isOwn { return }
            try access.require(.deleteStream, found)
            guard try MessageStreamRepository(transaction).delete(found.stream.id, at: transaction.now) else { return }
            let (users, id) = (StreamUserRepository(transaction), found.stream.id)
            let members = try StreamMemberRepository(transaction).list(of: id).map(\.userID)
            let calls = PushCalls(self)
            if let callee = try calls.callee(of: found.stream, members, in: transaction) {
                let why: CallPush = callee.user == holder.user.id ? .declined : .givenUp
                try calls.end(found.stream, callee, why, on: session.deviceID, transaction, &events)
            }
            try users.forget(id, of: members)
            try access.note(.deleted, id, for: members, &events)
            if let creator = found.stream.createdBy { try users.release(streams: 1, of: creator) }
        }
    }

    /// Deletes the body of a message; its number stays. A repetition changes nothing.
    ///
    /// - Throws: `Refusal` `not_found`, also for another's message unless the user opened the stream, `conflict`,
    ///   `unavailable`.
    func deleteMessage(_ message: String, in stream: String, for session: Session) async throws {
        try await act(
            for: session, in: stream, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.find(stream)
            // The stream is checked first, so a stranger learns nothing about the message.
            try access.require(.deleteOwnMessage, found)
            let messages = StreamMessageRepository(transaction)
            guard let id = MessageID(message[...]), let old = try messages.find(id, in: found.stream.id),
                try old.senderID == holder.user.id || access.verdict(.deleteOthersMessage, found) == .allowed
            else { throw Refusal.unknownOwnMessage }
            // Devices still have an expired message.
            guard old.sealedBody != nil || old.isExpired else { return }
            let released = try messages.deleteBody(old)
            // Members who were removed after the message have it too.
            let readers = try StreamMemberRepository(transaction).list(of: found.stream.id).filter {
                $0.leftAt ?? .max >= old.sequence
            }
            try access.note(.deleted, found.stream.id, id, for: readers.map(\.userID), &events)
            try StreamUserRepository(transaction).release(bytes: released)
        }
    }

    /// Deletes a message for the user only, on all of the user's devices. A repetition changes nothing.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` for a forum, `rate_limited`, `unavailable`.
    func deleteMessageCopy(_ message: String, in stream: String, for session: Session) async throws {
        try await act(
            for: session, in: stream, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let (found, user) = (try access.require(.deleteCopy, stream), holder.user.id)
            guard let id = MessageID(message[...]),
                let old = try StreamMessageRepository(transaction).find(id, in: found.stream.id),
                old.sequence <= found.lastVisible
            else { throw Refusal.unknownMessage }
            let metadata = MessageMetadataRepository(transaction)
            let own = try metadata.own(of: old, for: user)
            // The user's devices still have an expired message.
            let isThere = old.sealedBody != nil || old.isExpired
            guard isThere, own.map({ $0.sealed != nil }) ?? true else { return }
            try metadata.deleteCopy(of: old, for: user)
            try access.note(.deleted, found.stream.id, id, for: [user], &events)
            try StreamUserRepository(transaction).release(bytes: own?.size ?? 0, of: user)
        }
    }
}
