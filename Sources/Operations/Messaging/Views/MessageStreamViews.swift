import Database
import Domain
import Encoding
import Repositories

/// Makes a user's views of streams for one response. All data is read at the beginning, in a few statements for any
/// number of streams.
struct MessageStreamViews {
    private let access: MessageStreamAccess
    private let entries: [MessageStreamID: StreamPageRepository.Entry]
    private let metadata: (shared: [MessageStreamID: [UInt8]], own: [MessageStreamID: [UInt8]])
    private var people: People
    /// The finished views, without metadata.
    private var shown: [MessageStreamID: MessageStreamView?] = [:]

    /// The data of members, creators and senders. Most of them are in several of the streams.
    private struct People {
        var profiles: PublicProfiles
        /// The banned users among the other sides of streams between two.
        let banned: Set<UserID>
        /// The members who decline that messages are stored.
        let declining: Set<UserID>
        /// Those of the other sides who have a permission with the user.
        let permitted: Set<UserID>
    }

    /// The largest body of a message in a list, in bytes.
    private static let longestShown: Int64 = 4096

    /// Reads the data of some streams.
    ///
    /// - Parameter whole: the streams that are shown with their metadata.
    init(
        _ access: MessageStreamAccess, of streams: [MessageStreamID], whole: Set<MessageStreamID> = []
    ) throws {
        self.access = access
        let (user, keys, streams) = (access.user.id, access.context.keys.personal, Array(Set(streams)))
        let described = streams.filter(whole.contains)
        // The user's own key decrypts private metadata. It is not known yet whether it is needed.
        try access.transaction.ahead {
            _ = try StreamPageRepository($0, keys: keys).find(streams, for: user, longest: Self.longestShown)
            _ = try StreamPageRepository($0, keys: keys).metadata(of: described, for: user)
            if !described.isEmpty { _ = try DataKeyRepository($0, keys: keys).find(user) }
        }
        let pages = StreamPageRepository(access.transaction, keys: keys)
        entries = try pages.find(streams, for: user, longest: Self.longestShown)
        metadata = try pages.metadata(of: described, for: user)
        let own = entries.values.filter { $0.stream.kind != .forum && $0.present.contains(user) }
        let shown = own.flatMap(\.present) + entries.values.flatMap(\.named)
        let others = Array(Set(own.compactMap { $0.stream.kind.isBetweenTwo ? $0.other(than: user) : nil }))
        people = try access.transaction.together { transaction in
            let bans = try BanRepository(transaction).holdsInForce(on: others)
            return People(
                profiles: try PublicProfiles(
                    of: shown, access.context.policy[\.streams].members, keys: keys, in: transaction),
                banned: Set(
                    bans.filter { AuthorizationParties.ban(among: $0.value, at: transaction.now) != nil }.keys),
                declining: try MessageStorageRepository(transaction).declined(among: own.flatMap(\.present)),
                permitted: try AuthorizationRepository(transaction).permitted(with: user, among: others))
        }
    }

    /// A stream of the user's provider, deleted or not.
    func find(_ id: MessageStreamID) -> MessageStreamAccess.Found? {
        guard let entry = entries[id], entry.stream.providerID == access.user.providerID else { return nil }
        return MessageStreamAccess.Found(
            stream: entry.stream, member: entry.members.first { $0.userID == access.user.id })
    }

    /// The view of a stream; `nil` if it was deleted, or the user cannot see it.
    ///
    /// - Parameter isWhole: whether to include metadata, only for streams whose metadata was read.
    mutating func view(of stream: MessageStreamID, isWhole: Bool) throws -> MessageStreamView? {
        if shown[stream] == nil { shown.updateValue(try makeView(of: stream), forKey: stream) }
        guard let view = shown[stream] ?? nil else { return nil }
        return isWhole ? try addMetadata(to: view) : view
    }

    /// How many of some streams fit into a number of bytes, at least one.
    mutating func size(of streams: [MessageStreamID], upTo maximum: Int) throws -> Int {
        var bytes = 0
        for (index, stream) in streams.enumerated() {
            bytes += try view(of: stream, isWhole: false)?.weight ?? 0
            if bytes > maximum { return max(1, index) }
        }
        return streams.count
    }

    private func addMetadata(to view: MessageStreamView) throws -> MessageStreamView {
        let id = view.stream.id
        guard view.state == .open, let found = find(id) else { return view }
        var whole = view
        whole.metadata = try StreamMetadata.shared(metadata.shared[id], try key(of: id))
        if found.member != nil {
            whole.privateMetadata = try StreamMetadata.kept(metadata.own[id], id) {
                try DataKeyRepository(access.transaction, keys: access.context.keys.personal).find(access.user.id)
            }
        }
        return whole
    }

    private mutating func makeView(of id: MessageStreamID) throws -> MessageStreamView? {
        guard let entry = entries[id], let found = find(id) else { return nil }
        let state: MessageStreamView.State
        // Reading does not depend on a ban of the user.
        switch access.rule(found, isBanned: false, partner: partner(in: entry, found)).verdict(on: .read) {
        case .allowed: state = found.membership == .former ? .left : .open
        case .closed: state = .closed
        default: return nil
        }
        let members = try members(of: entry, state)
        guard state != .closed else { return view(found, state, members: members) }
        let key = try key(of: id)
        return view(
            found, state, members: members, profiles: try profiles(of: entry, state, besides: members),
            opening: try entry.sealedOpening.map {
                try StrictJSON.parse(Array(try key.open($0, in: .streamOpening).utf8))
            },
            last: try entry.last.map { try Service.MessageView($0, key, upTo: Self.longestShown) })
    }

    /// The key of a stream among these; refused if it was deleted.
    func key(of id: MessageStreamID) throws -> StreamKey {
        let pages = StreamPageRepository(access.transaction, keys: access.context.keys.personal)
        guard let entry = entries[id], let key = try pages.key(of: entry) else { throw Refusal.unknownStream }
        return key
    }

    private func partner(
        in entry: StreamPageRepository.Entry, _ found: MessageStreamAccess.Found
    ) -> MessageStreamRule.Partner? {
        guard entry.stream.kind.isBetweenTwo, found.member != nil, let other = entry.other(than: access.user.id)
        else { return nil }
        let required = access.parties(entry.stream.kind).required
        return MessageStreamAccess.partner(
            isPermitted: people.permitted.contains(other), isBanned: people.banned.contains(other),
            isVerified: people.profiles.level(of: other).map { $0 >= required } ?? false)
    }

    private func view(
        _ found: MessageStreamAccess.Found, _ state: MessageStreamView.State, members: [MessageStreamView.Member],
        profiles: [PublicProfile] = [], opening: JSONValue? = nil, last: Service.MessageView? = nil
    ) -> MessageStreamView {
        MessageStreamView(
            stream: found.stream, state: state, opening: opening, lastSequence: found.lastVisible,
            unread: found.member.map { max(0, found.lastVisible - $0.readThrough) }, lastMessage: last,
            members: members, profiles: profiles,
            storage: members.contains { people.declining.contains($0.member.userID) } ? .untilDelivered : .keep,
            metadata: nil, privateMetadata: nil)
    }

    private mutating func members(
        of entry: StreamPageRepository.Entry, _ state: MessageStreamView.State
    ) throws -> [MessageStreamView.Member] {
        guard entry.stream.kind != .forum, state != .left else { return [] }
        return try entry.members.filter { $0.leftAt == nil }.map { member in
            MessageStreamView.Member(
                member: member, profile: state == .open ? try people.profiles.find(member.userID) : nil)
        }
    }

    private mutating func profiles(
        of entry: StreamPageRepository.Entry, _ state: MessageStreamView.State,
        besides members: [MessageStreamView.Member]
    ) throws -> [PublicProfile] {
        let users = Set(entry.named).subtracting(members.map(\.member.userID))
        return try users.sorted { $0.description < $1.description }.compactMap { user in
            try state == .open ? people.profiles.find(user) : people.profiles.findAddress(of: user)
        }
    }
}

extension StreamPageRepository.Entry {
    /// The ids of present members.
    fileprivate var present: [UserID] { members.filter { $0.leftAt == nil }.map(\.userID) }

    /// The users that a view names besides its members.
    fileprivate var named: [UserID] { [stream.createdBy, last?.senderID].compactMap(\.self) }

    fileprivate func other(than user: UserID) -> UserID? { present.first { $0 != user } }
}
