import Database
import Domain
import Encoding
import Foundation
import Repositories

package struct MessageStreamFilter: Sendable {
    let kind: MessageStream.Kind?
    let cursor: Cursor?

    /// A position: a number for the user's own streams, a time and an id for forums.
    struct Cursor: Sendable {
        let number: Int64
        let id: MessageStreamID?
    }

    /// Parses a filter; `nil` means no restriction.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    package init(kind: String?, cursor: String?) throws(Refusal) {
        self.kind = try kind.map { text throws(Refusal) in
            guard let kind = MessageStream.Kind(rawValue: text) else {
                throw Refusal.unknownChoice(of: "kind", MessageStream.Kind.self)
            }
            return kind
        }
        self.cursor = try cursor.map { text throws(Refusal) in
            guard let cursor = Self.parse(text) else {
                throw Refusal.unknownCursor
            }
            return cursor
        }
    }

    private static func parse(_ text: String) -> Cursor? {
        guard text.utf8.count <= 128, let bytes = Base64URL.decode(text) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard (1...2).contains(parts.count), let number = Int64(parts[0]), (0..<1 << 52).contains(number) else {
            return nil
        }
        return Cursor(number: number, id: parts.count == 2 ? MessageStreamID(parts[1]) : nil)
    }

    static func text(_ number: Int64, _ id: MessageStreamID? = nil) -> String {
        Base64URL.encode(Array((id.map { "\(number) \($0)" } ?? "\(number)").utf8))
    }
}

package struct MessageStreamPage: Sendable {
    /// The number of entries for one page. Some of them may not be visible.
    static let size = 20
    /// The approximate maximum of bytes in one page.
    package static let largest = size * MessageStreamView.largest

    /// Sorted by change, newest first.
    package let views: [MessageStreamView]
    /// The cursor of the next page; `nil` after the last one.
    package let cursor: String?
}

package extension Service {
    /// A user's streams, or the forums of the user's provider.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func listMessageStreams(_ filter: MessageStreamFilter, for session: Session) async throws
        -> MessageStreamPage
    {
        let lookAhead: SessionHolder.Ahead = {
            if filter.kind != .forum { _ = try Self.entries(filter, of: session.userID, in: $0) }
        }
        return try await read(for: session, ahead: lookAhead) { transaction, holder in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            return filter.kind == .forum ? try forums(filter, access) : try own(filter, access)
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

    private func own(_ filter: MessageStreamFilter, _ access: MessageStreamAccess) throws -> MessageStreamPage {
        let entries = try Self.entries(filter, of: access.user.id, in: access.transaction)
        var views = try MessageStreamViews(access, of: entries.map(\.stream))
        var shown: [MessageStreamView] = []
        for entry in entries {
            guard let found = views.find(entry.stream), filter.kind.map({ $0 == found.stream.kind }) ?? true,
                let view = try views.view(of: entry.stream, isWhole: false)
            else { continue }
            shown.append(view)
        }
        let isFull = entries.count == MessageStreamPage.size
        return MessageStreamPage(
            views: shown, cursor: isFull ? entries.last.map { MessageStreamFilter.text($0.sequence) } : nil)
    }

    private static func entries(
        _ filter: MessageStreamFilter, of user: UserID, in transaction: any Transaction
    ) throws -> [StreamUserRepository.Entry] {
        try StreamUserRepository(transaction).streams(
            of: user, before: filter.cursor?.number ?? .max, limit: MessageStreamPage.size)
    }

    private func forums(_ filter: MessageStreamFilter, _ access: MessageStreamAccess) throws -> MessageStreamPage {
        let mark = filter.cursor.flatMap { cursor in
            cursor.id.map { (at: Date(milliseconds: cursor.number), id: $0) }
        }
        let found = try MessageStreamRepository(access.transaction).forums(
            of: access.user.providerID, before: mark, limit: MessageStreamPage.size)
        var views = try MessageStreamViews(access, of: found.map(\.stream.id))
        let shown = try found.compactMap { try views.view(of: $0.stream.id, isWhole: false) }
        let last = found.count == MessageStreamPage.size ? found.last : nil
        return MessageStreamPage(
            views: shown, cursor: last.map { MessageStreamFilter.text($0.changedAt.milliseconds, $0.stream.id) })
    }
}
