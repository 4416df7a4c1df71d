import Database
import Domain
import Repositories

package extension Service {
    struct MessageStreamPage: Sendable {
        /// The number of entries for one page. Some of them may not be visible.
        static let size = 20
        /// The number of streams that are compared with a filter for one page. If few of them fit, the page is shorter, or
        /// empty, and has a cursor.
        static let compared = 500
        /// Milliseconds before the anchor. A forum's change may be committed later than that of the first forum although it
        /// is earlier, so forums of this time are listed again at the end.
        static let margin: Int64 = 10_000
        /// After this many bytes of streams a page ends, because the names and pictures of many members are long.
        static let bytes = 393_216
        /// The approximate maximum of bytes in one page.
        package static let largest = bytes + MessageStreamView.largest

        /// Sorted by change, newest first.
        package let views: [MessageStreamView]
        /// The cursor of the next page; `nil` after the last one.
        package let cursor: String?
    }

    /// A user's streams, or the forums of the user's provider.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func listMessageStreams(_ filter: MessageStreamFilter, for session: Session) async throws
        -> MessageStreamPage
    {
        var slug: Slug?
        if case .address = filter.member { slug = try await caches.providers.find(session.providerID)?.provider.slug }
        let lookAhead: SessionHolder.Ahead = {
            guard filter.member == nil else { return }
            let list = StreamList(self, filter, (session.userID, session.providerID), member: nil, in: $0)
            _ = try list.first()
        }
        return try await read(for: session, ahead: lookAhead) { [slug] transaction, holder in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let member = try filter.member.map { try find($0, slug, access) }
            if filter.member != nil, member == .some(nil) { return MessageStreamPage(views: [], cursor: nil) }
            let list = StreamList(
                self, filter, (holder.user.id, holder.user.providerID), member: member ?? nil, in: transaction)
            var (streams, cursor) = try list.page()
            var views = try MessageStreamViews(access, of: streams)
            let size = try views.size(of: streams, upTo: MessageStreamPage.bytes)
            if size < streams.count { (streams, cursor) = try list.page(size) }
            let shown = try streams.compactMap { stream -> MessageStreamView? in
                guard let view = try views.view(of: stream, isWhole: false) else { return nil }
                // What is not shown of a stream whose authorization has ended cannot be searched for either.
                return filter.metadata.isEmpty || view.state == .open ? view : nil
            }
            return MessageStreamPage(views: shown, cursor: cursor?.text)
        }
    }

    /// The user whom a filter names; `nil` if the user is not known, or belongs to another provider.
    private func find(_ member: AuthorizationAddress, _ slug: Slug?, _ access: MessageStreamAccess) throws -> UserID? {
        switch member {
        case .user(let id): return id
        case .address(let named, let externalID):
            guard named == slug else { return nil }
            return try UserRepository(access.transaction).find(
                providerID: access.user.providerID, externalID: externalID)?.id
        }
    }

    /// Returns one stream, with its metadata.
    ///
    /// - Throws: `Refusal` `not_found`, `unavailable`.
    func readMessageStream(_ stream: String, to session: Session) async throws -> MessageStreamView {
        try await read(for: session) { transaction, holder in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            guard let id = MessageStreamID(stream[...]) else { throw Refusal.unknownStream }
            var views = try MessageStreamViews(access, of: [id], whole: [id])
            guard let view = try views.view(of: id, isWhole: true) else { throw Refusal.unknownStream }
            return view
        }
    }
}
