import Database
import Domain
import Encoding
import Repositories

package extension Service {
    /// The messages that a query selects.
    struct MessageRange: Sendable {
        let after: Int64?
        let before: Int64?
        let limit: Int

        /// Parses a range: after a number oldest first, otherwise newest first.
        ///
        /// - Throws: `Refusal` `malformed_request`.
        package init(after: String?, before: String?, limit: String?) throws(Refusal) {
            self.after = try Self.number(after, "after")
            self.before = try Self.number(before, "before")
            guard self.after == nil || self.before == nil else {
                throw Refusal.afterAndBefore
            }
            let limit = try Self.number(limit, "limit") ?? Int64(MessagePage.size)
            self.limit = min(max(1, Int(clamping: limit)), MessagePage.size)
        }

        private static func number(_ text: String?, _ name: String) throws(Refusal) -> Int64? {
            guard let text else { return nil }
            guard text.utf8.count <= 18, let number = Int64(text), number >= 0 else {
                throw Refusal.notSequence(name)
            }
            return number
        }
    }

    struct MessagePage: Sendable {
        /// The largest number of messages in one page.
        static let size = 100
        /// The maximum of bytes of bodies in one page.
        static let bytes: Int64 = 524_288
        /// The maximum of bytes in one page, including the other members and the senders.
        package static let largest = Int(bytes) + size * (512 + PublicProfile.largest)

        package let views: [MessageView]
        /// The senders, each once. A removed user sees no names of them.
        package let profiles: [PublicProfile]
        package let hasMore: Bool
        /// The number of the last message that the reader may see.
        package let lastSequence: Int64
    }

    /// A message as a reader sees it.
    struct MessageView: Sendable, Confidential {
        package let message: StreamMessage
        /// The parts of its body; `nil` if it was deleted, or is too long for a list.
        package let parts: JSONValue?
        /// Metadata that all members see; `nil` if there are none, for a removed member, and in lists.
        package private(set) var metadata: StreamMetadata?
        /// Metadata that only the reader sees; `nil` in the same cases.
        package private(set) var privateMetadata: StreamMetadata?

        /// - Parameter maximum: the largest body that is included, in bytes.
        init(_ message: StreamMessage, _ key: StreamKey, upTo maximum: Int64 = .max) throws {
            self.message = message
            parts =
                try message.size > maximum
                ? nil
                : message.sealedBody.map {
                    try StrictJSON.parse(Array(try key.open($0, in: .messageBody, of: message.id).utf8))
                }
        }

        /// A message with its metadata.
        ///
        /// - Parameter own: the reader's own key; `nil` if there is none.
        init(_ read: StreamMessageRepository.Read, _ key: StreamKey, own: DataKey?, for user: UserID) throws {
            try self.init(read.message, key)
            guard parts != nil else { return }
            metadata = try read.shared.map { try StreamMetadata.shared($0, of: message.id, key) }
            privateMetadata = try read.own.map {
                try StreamMetadata.own($0, of: message.id, in: message.streamID, user, own)
            }
        }
    }

    /// The messages of a stream, forwards or backwards.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` for a direct stream whose authorization has ended, `unavailable`.
    func readMessages(_ range: MessageRange, of stream: String, for session: Session) async throws
        -> MessagePage
    {
        let keys = keys.personal
        return try await read(
            for: session,
            ahead: MessageStreamAccess.lookAhead(stream, of: session) {
                _ = try StreamKeyRepository($1, keys: keys).find($0)
            }
        ) { transaction, holder in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.require(.read, stream)
            let key = try access.key(found.stream.id)
            let end = found.lastVisible + 1
            let (messages, hasMore) = try StreamMessageRepository(transaction).list(
                of: found.stream.id, for: holder.user.id, after: range.after ?? 0,
                before: min(range.before ?? end, end), isForward: range.after != nil, limit: range.limit,
                bytes: MessagePage.bytes
            ) { senders, transaction in
                _ = try PublicProfileRepository(transaction, keys: keys).find(senders)
            }
            let profiles = try profiles(ofSenders: messages.map(\.message), in: found, transaction)
            guard found.membership != .former else {
                let views = try messages.map { try MessageView($0.message, key) }
                return MessagePage(
                    views: views, profiles: profiles, hasMore: hasMore, lastSequence: found.lastVisible)
            }
            let hasOwn = messages.contains { $0.own != nil }
            let own = hasOwn ? try DataKeyRepository(transaction, keys: keys).find(holder.user.id) : nil
            return MessagePage(
                views: try messages.map { try MessageView($0, key, own: own, for: holder.user.id) },
                profiles: profiles, hasMore: hasMore,
                lastSequence: found.lastVisible)
        }
    }

    private func profiles(
        ofSenders messages: [StreamMessage], in found: MessageStreamAccess.Found, _ transaction: any Transaction
    ) throws -> [PublicProfile] {
        let senders = Set(messages.compactMap(\.senderID))
        var profiles = try PublicProfiles(
            of: senders, policy[\.streams].members, keys: keys.personal, in: transaction)
        return try senders.sorted { $0.description < $1.description }.compactMap { user in
            try found.membership == .former ? profiles.findAddress(of: user) : profiles.find(user)
        }
    }
}
