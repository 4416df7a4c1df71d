import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service {
    /// Opens a stream of messages. A repetition gets the same response and has no effect.
    ///
    /// - Throws: `Refusal` `user_banned`, `not_verified` for either side of a direct stream, `not_found` if the id is
    ///   another user's. `conflict` if the id belongs to another request or a deleted stream, if the user may not
    ///   message a member, or if the user has as many streams as the policy allows. `rate_limited`, `unavailable`.
    func openMessageStream(_ opening: StreamOpening, for session: Session) async throws -> MessageStream {
        let slug = try await caches.providers.find(session.providerID)?.provider.slug
        return try await act(for: session, in: nil) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            if let earlier = try MessageStreamRepository(transaction).find(opening.id) {
                return try requireSame(earlier, opening, access)
            }
            try access.requireWriter(opening.kind)
            let others = try members(opening, slug, access)
            let stream = try insert(opening, others, access, &events)
            // Last, so that the user's row is locked in the order of the members' rows.
            let count = try StreamUserRepository(transaction).count(streams: 1, of: holder.user.id).streams
            guard count <= policy[\.streams].streamsPerUser else {
                throw Refusal.tooManyStreams(count - 1)
            }
            return stream
        }
    }

    private func requireSame(
        _ earlier: MessageStream, _ opening: StreamOpening, _ access: MessageStreamAccess
    ) throws -> MessageStream {
        guard earlier.createdBy == access.user.id else {
            throw Refusal.idTaken
        }
        guard earlier.deletedAt == nil else {
            throw Refusal.streamDeleted
        }
        let sealed = try MessageStreamRepository(access.transaction).sealed(of: earlier.id).opening
        guard try sealed.map({ try access.key(earlier.id).open($0, in: .streamOpening) }) == opening.json.jsonText
        else { throw Refusal.idReused(state: "open") }
        return earlier
    }

    private func members(
        _ opening: StreamOpening, _ slug: Slug?, _ access: MessageStreamAccess
    ) throws -> Set<UserID> {
        // Before any lookup, so that the refusal reveals nothing about earlier elements.
        guard !opening.members.contains(where: { $0.names(access.user, at: slug) }) else {
            throw Refusal.memberIsCaller
        }
        let users = UserRepository(access.transaction)
        var found: Set<UserID> = []
        for address in opening.members {
            let user: User? =
                switch address {
                case .user(let id): try users.find(id).flatMap { $0.providerID == access.user.providerID ? $0 : nil }
                case .address(let named, let externalID):
                    named == slug
                        ? try users.find(providerID: access.user.providerID, externalID: externalID) : nil
                }
            try access.requireAddable(user?.id, to: opening.kind)
            if let user { found.insert(user.id) }
        }
        return found
    }

    private func insert(
        _ opening: StreamOpening, _ others: Set<UserID>, _ access: MessageStreamAccess,
        _ events: inout RecordedEvents
    ) throws -> MessageStream {
        let (transaction, user) = (access.transaction, access.user)
        let stream = MessageStream(
            id: opening.id, providerID: user.providerID, kind: opening.kind, createdBy: user.id,
            createdAt: transaction.now)
        let (key, wrapped, version) = try StreamKeyRepository(transaction, keys: keys.personal).generate(
            for: stream.id)
        let isNew = try MessageStreamRepository(transaction).insert(
            stream, wrapped: wrapped, version: version,
            opening: try key.seal(opening.json.jsonText, in: .streamOpening),
            metadata: try key.seal(opening.metadata.value.jsonText, in: .streamMetadata))
        guard isNew else {
            throw Refusal.requestedTwice(state: "open")
        }
        try metadataIndex.write(opening.metadata, of: stream.id, at: stream.providerID, in: transaction)
        guard stream.kind != .forum else { return stream }
        let members = [user.id] + others
        for member in members {
            try StreamMemberRepository(transaction).admit(
                StreamMember(streamID: stream.id, userID: member, joinedAt: 0))
        }
        try access.note(.newMessage, stream.id, for: members, &events)
        if opening.metadata != .empty { try access.note(.updateTags, stream.id, for: members, &events) }
        return stream
    }
}
