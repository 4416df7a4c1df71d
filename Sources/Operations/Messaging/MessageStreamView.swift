import Database
import Domain
import Encoding
import Repositories

/// A stream as one user sees it in a list or alone.
package struct MessageStreamView: Sendable, Confidential {
    package enum State: String, Sendable {
        case open
        /// A direct stream that nobody permits any more: its content is not shown.
        case closed
        /// The user was removed, and sees what there was until then.
        case left
    }

    /// A member as the others see one: no name, no number.
    package struct Member: Sendable, Confidential {
        package let member: StreamMember
        /// The first letters of the name on the card.
        package let initials: String?
        package let assurance: Assurance
    }

    package let stream: MessageStream
    package let state: State
    package let opening: JSONValue?
    /// The number of the last message that the user may see.
    package let lastSequence: Int64
    /// Messages behind the user's last read one; `nil` in a forum.
    package let unread: Int64?
    package let lastMessage: MessageView?
    /// The present members; empty in a forum, and for a user who was removed.
    package let members: [Member]
    package let metadata: StreamMetadata?
    package let privateMetadata: StreamMetadata?

    /// About how many bytes it has in an answer.
    var weight: Int {
        let texts = [opening, lastMessage?.parts, metadata?.value, privateMetadata?.value]
        return texts.reduce(256 + 256 * members.count) { $0 + ($1?.jsonText.utf8.count ?? 0) }
    }
}

/// Puts together what a user sees of streams. What was found of a member serves for all streams of a page.
struct MessageStreamViews {
    private let access: MessageStreamAccess
    private var partners: [UserID: AuthorizationPartner] = [:]

    /// A longer message is not in a list.
    private static let longestShown: Int64 = 4096

    init(_ access: MessageStreamAccess) { self.access = access }

    private var keys: PersonalKeys { access.context.keys.personal }

    /// The view of a stream; `nil` if it was deleted, or is not the user's.
    ///
    /// - Parameter isWhole: whether metadata are shown, too.
    mutating func view(_ found: MessageStreamAccess.Found, isWhole: Bool) throws -> MessageStreamView? {
        let (stream, transaction) = (found.stream, access.transaction)
        let state: MessageStreamView.State
        switch try access.verdict(.read, found) {
        case .allowed: state = found.membership == .former ? .left : .open
        case .closed: state = .closed
        default: return nil
        }
        guard state != .closed else { return view(found, state, members: try members(of: found, state)) }
        let key = try access.key(stream.id)
        let sealed = try MessageStreamRepository(transaction).sealed(of: stream.id)
        let last = try StreamMessageRepository(transaction).find(found.lastVisible, in: stream.id)
        let showsMetadata = isWhole && state == .open
        return view(
            found, state, members: try members(of: found, state),
            opening: try sealed.opening.map { try StrictJSON.parse(Array(try key.open($0, in: .streamOpening).utf8)) },
            last: try last.map { try MessageView($0, key, upTo: Self.longestShown) },
            metadata: showsMetadata ? try ChangeStreamMetadata.shared(stream.id, key, in: transaction) : nil,
            own: showsMetadata && found.member != nil
                ? try ChangeStreamMetadata.kept(stream.id, of: access.user.id, keys, in: transaction) : nil)
    }

    private func view(
        _ found: MessageStreamAccess.Found, _ state: MessageStreamView.State, members: [MessageStreamView.Member],
        opening: JSONValue? = nil, last: MessageView? = nil, metadata: StreamMetadata? = nil,
        own: StreamMetadata? = nil
    ) -> MessageStreamView {
        MessageStreamView(
            stream: found.stream, state: state, opening: opening, lastSequence: found.lastVisible,
            unread: found.member.map { max(0, found.lastVisible - $0.readThrough) }, lastMessage: last,
            members: members, metadata: metadata, privateMetadata: own)
    }

    private mutating func members(
        of found: MessageStreamAccess.Found, _ state: MessageStreamView.State
    ) throws -> [MessageStreamView.Member] {
        guard found.stream.kind != .forum, state != .left else { return [] }
        let present = try StreamMemberRepository(access.transaction).list(of: found.stream.id).filter {
            $0.leftAt == nil
        }
        return try present.map { member in
            guard state == .open, let partner = try partner(member.userID) else {
                return MessageStreamView.Member(member: member, initials: nil, assurance: .none)
            }
            return MessageStreamView.Member(
                member: member, initials: partner.initials, assurance: partner.assurance)
        }
    }

    private mutating func partner(_ user: UserID) throws -> AuthorizationPartner? {
        if let known = partners[user] { return known }
        let found = try AuthorizationPartner.find(user, keys: keys, in: access.transaction)
        partners[user] = found
        return found
    }
}
