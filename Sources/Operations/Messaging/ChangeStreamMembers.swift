import Database
import Domain
import Repositories

package extension Service {
    /// Adds a user to a conversation, who can then read all messages. It has no effect for a member.
    ///
    /// - Throws: `Refusal` `not_found`, `user_banned`, `not_verified`, `rate_limited`, `unavailable`. `conflict` if
    ///   there are 25 members, or the two users have no approved authorization.
    func addMember(_ name: String, to stream: String, for session: Session) async throws {
        try await act(
            for: session, in: stream, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.require(.addMember, stream)
            let other = try UserID(name[...]).flatMap { try UserRepository(transaction).find($0) }
            let id = other?.providerID == holder.user.providerID ? other?.id : nil
            let members = StreamMemberRepository(transaction)
            let ever = try members.list(of: found.stream.id)
            let present = ever.filter { $0.leftAt == nil }.map(\.userID)
            if let id, present.contains(id) { return }
            try access.requireAddable(id, to: found.stream.kind)
            guard let id else { throw Refusal.unknownStream }
            guard present.count < MessageStream.maximumMembers,
                ever.count < MessageStream.maximumMembersEver || ever.contains(where: { $0.userID == id })
            else {
                throw Refusal.tooManyMembers
            }
            try members.admit(
                StreamMember(streamID: found.stream.id, userID: id, joinedAt: found.stream.lastSequence))
            // Changes from before the user was a member.
            for change in [UserChange.newMessage, .updateTags] {
                try access.note(change, found.stream.id, for: [id], &events)
            }
            try access.note(.members, found.stream.id, for: present + [id], &events)
        }
    }

    /// Removes a user, who can still read messages up to now. It has no effect for a user who is not a member.
    ///
    /// - Throws: `Refusal` `not_found`, `user_banned`, `not_verified`, `conflict`, `rate_limited`, `unavailable`.
    func removeMember(_ name: String, from stream: String, for session: Session) async throws {
        try await act(
            for: session, in: stream, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let id = UserID(name[...])
            let found = try access.require(id == holder.user.id ? .leave : .removeMember, stream)
            let members = StreamMemberRepository(transaction)
            let present = try members.present(in: found.stream.id)
            guard let id, present.contains(id) else { return }
            try members.leave(id, found.stream.id, at: found.stream.lastSequence)
            try access.note(.members, found.stream.id, for: present, &events)
        }
    }
}
