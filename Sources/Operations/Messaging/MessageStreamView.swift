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
    package fileprivate(set) var metadata: StreamMetadata?
    package fileprivate(set) var privateMetadata: StreamMetadata?

    /// About how many bytes it has in an answer at most: a title, a description and an image's URL, the last message, the
    /// members.
    static let largest = 8192 + 8192 + 256 * (1 + MessageStream.maximumMembers)
    /// The same with the metadata of both kinds.
    package static let largestWhole = largest + 2 * StreamMetadata.maximumBytes

    /// About how many bytes it has in an answer.
    var weight: Int {
        let texts = [opening, lastMessage?.parts, metadata?.value, privateMetadata?.value]
        return texts.reduce(256 + 256 * members.count) { $0 + ($1?.jsonText.utf8.count ?? 0) }
    }
}

/// Puts together what a user sees of streams, within one answer. What was found of a member serves for all its streams, and
/// what was found of a stream wherever it occurs again.
struct MessageStreamViews {
    private let access: MessageStreamAccess
    private var partners: [UserID: Partner?] = [:]
    /// Without metadata.
    private var shown: [MessageStreamID: (found: MessageStreamAccess.Found, view: MessageStreamView)?] = [:]

    /// What members see of each other.
    private typealias Partner = (initials: String?, assurance: Assurance)

    /// A longer message is not in a list.
    private static let longestShown: Int64 = 4096

    init(_ access: MessageStreamAccess) { self.access = access }

    private var keys: PersonalKeys { access.context.keys.personal }

    /// The view of a stream; `nil` if it was deleted, or is not the user's. A stream that occurs again is not read again.
    ///
    /// - Parameter isWhole: whether metadata are shown, too.
    mutating func view(of stream: MessageStreamID, isWhole: Bool) throws -> MessageStreamView? {
        if shown[stream] == nil {
            let made = try access.find(stream).flatMap { found in try view(found).map { (found, $0) } }
            shown.updateValue(made, forKey: stream)
        }
        guard let (found, view) = shown[stream] ?? nil else { return nil }
        return isWhole ? try addMetadata(to: view, found) : view
    }

    /// The view of a stream with its metadata, as ``view(_:)``.
    mutating func whole(_ found: MessageStreamAccess.Found) throws -> MessageStreamView? {
        try view(found).map { try addMetadata(to: $0, found) }
    }

    private func addMetadata(
        to view: MessageStreamView, _ found: MessageStreamAccess.Found
    ) throws -> MessageStreamView {
        guard view.state == .open else { return view }
        let (id, transaction) = (found.stream.id, access.transaction)
        var whole = view
        whole.metadata = try ChangeStreamMetadata.shared(id, try access.key(id), in: transaction)
        if found.member != nil {
            whole.privateMetadata = try ChangeStreamMetadata.kept(id, of: access.user.id, keys, in: transaction)
        }
        return whole
    }

    /// The view of a stream without metadata; `nil` if it was deleted, or is not the user's.
    mutating func view(_ found: MessageStreamAccess.Found) throws -> MessageStreamView? {
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
        return view(
            found, state, members: try members(of: found, state),
            opening: try sealed.opening.map { try StrictJSON.parse(Array(try key.open($0, in: .streamOpening).utf8)) },
            last: try last.map { try MessageView($0, key, upTo: Self.longestShown) })
    }

    private func view(
        _ found: MessageStreamAccess.Found, _ state: MessageStreamView.State, members: [MessageStreamView.Member],
        opening: JSONValue? = nil, last: MessageView? = nil
    ) -> MessageStreamView {
        MessageStreamView(
            stream: found.stream, state: state, opening: opening, lastSequence: found.lastVisible,
            unread: found.member.map { max(0, found.lastVisible - $0.readThrough) }, lastMessage: last,
            members: members, metadata: nil, privateMetadata: nil)
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

    /// A member as the others see one; of what is sealed the name alone is opened.
    private mutating func partner(_ user: UserID) throws -> Partner? {
        if let known = partners[user] { return known }
        let transaction = access.transaction
        let found: Partner? = try UserRepository(transaction).find(user).map { member in
            let name =
                member.assurance >= .barcode
                ? try AuthenticatedUserRepository(transaction, keys: keys).fullName(of: user) : nil
            return (AuthenticatedUser.initials(of: name), member.assurance)
        }
        partners.updateValue(found, forKey: user)
        return found
    }
}
