import Database
import Domain
import Foundation
import Repositories

/// Streams as one user may reach them: it finds what `MessageStreamRule` needs, and turns the verdict into a refusal.
struct MessageStreamAccess {
    let context: ServiceContext
    let transaction: any Transaction
    /// Who asks.
    let user: User

    init(_ context: ServiceContext, _ user: User, in transaction: any Transaction) {
        self.context = context
        self.transaction = transaction
        self.user = user
    }

    /// A stream of the user's provider, and what the user is in it.
    struct Found {
        let stream: MessageStream
        let member: StreamMember?

        var membership: MessageStreamRule.Membership {
            member.map { $0.leftAt == nil ? .current : .former } ?? .never
        }

        /// The last message that the user may see.
        var lastVisible: Int64 { member?.leftAt ?? stream.lastSequence }
    }

    static let unknown = Refusal(.notFound, "There is no such stream of yours.")

    /// Finds a stream by its id. Deleted ones are found, too.
    ///
    /// - Throws: `Refusal` `not_found`, also for another provider's.
    func find(_ text: String) throws -> Found {
        guard let id = MessageStreamID(text[...]), let found = try find(id) else { throw Self.unknown }
        return found
    }

    func find(_ id: MessageStreamID) throws -> Found? {
        guard let stream = try MessageStreamRepository(transaction).find(id), stream.providerID == user.providerID
        else { return nil }
        return Found(stream: stream, member: try StreamMemberRepository(transaction).find(user.id, in: id))
    }

    /// Finds a stream to which the user may do something.
    ///
    /// - Throws: `Refusal` `not_found`, `user_banned`, `not_verified`, `conflict`.
    func require(_ action: MessageStreamRule.Action, _ text: String) throws -> Found {
        let found = try find(text)
        try require(action, found)
        return found
    }

    func require(_ action: MessageStreamRule.Action, _ found: Found) throws {
        try refuse(try verdict(action, found), found.stream.kind)
    }

    func verdict(_ action: MessageStreamRule.Action, _ found: Found) throws -> MessageStreamRule.Verdict {
        let (stream, parties) = (found.stream, parties(found.stream.kind))
        return MessageStreamRule(
            kind: stream.kind, isDeleted: stream.deletedAt != nil, membership: found.membership,
            isCreator: stream.createdBy == user.id, isBanned: try parties.ban(of: user.id) != nil,
            hasLevel: user.assurance >= parties.required, partner: try partner(found, parties)
        ).verdict(on: action)
    }

    /// Refuses a user who may not write in streams of a kind.
    ///
    /// - Throws: `Refusal` `user_banned`, `not_verified`.
    func requireWriter(_ kind: MessageStream.Kind) throws { try parties(kind).requireCaller(user.id) }

    func parties(_ kind: MessageStream.Kind) -> AuthorizationParties {
        kind.isBetweenTwo
            ? AuthorizationParties(context.policy, in: transaction)
            : AuthorizationParties(required: context.policy[\.streams].requiredLevel, in: transaction)
    }

    private func partner(_ found: Found, _ parties: AuthorizationParties) throws -> MessageStreamRule.Partner {
        guard found.stream.kind.isBetweenTwo, found.member != nil else { return .permitted }
        let others = try StreamMemberRepository(transaction).present(in: found.stream.id).filter { $0 != user.id }
        guard let other = others.first, try parties.arePermitted(user.id, other), try parties.ban(of: other) == nil
        else { return .notPermitted }
        return try parties.isVerified(other) ? .permitted : .notVerified
    }

    private func refuse(_ verdict: MessageStreamRule.Verdict, _ kind: MessageStream.Kind) throws {
        let parties = parties(kind)
        switch verdict {
        case .allowed: return
        case .unknown: throw Self.unknown
        case .banned, .levelTooLow: try parties.requireCaller(user.id)
        case .partnerNotVerified: throw parties.partnerIsNotVerified
        case .closed:
            throw Refusal(
                .conflict, "There is no approved authorization between the two of you.", state: "closed")
        case .left: throw Refusal(.conflict, "You are no member of the stream any more.", state: "left")
        case .fixed:
            throw Self.unsupported(kind)
        }
        throw Self.unknown
    }

    static func unsupported(_ kind: MessageStream.Kind) -> Refusal {
        Refusal(.conflict, "A stream of the kind \(kind.rawValue) has no such thing.", state: "unsupported")
    }

    /// Whether the user may open a conversation with another one, or add that one to it.
    ///
    /// - Throws: `Refusal` `not_found` or `conflict`: the same whether or not there is such a user.
    func requireAddable(_ other: UserID?, to kind: MessageStream.Kind) throws {
        if kind == .conversation, context.policy[\.streams].conversationRequires == .provider {
            guard let other, try !BlockRepository(transaction).holds(other, blocks: user.id) else {
                throw Refusal(.notFound, "Your provider has no such user.")
            }
            return
        }
        guard let other, try parties(kind).arePermitted(user.id, other) else {
            throw Refusal(
                .conflict, "There is no approved authorization between you and that user.", state: "unauthorized")
        }
        if kind.isBetweenTwo { try parties(kind).requirePartner(other) }
    }

    /// Notes a change for users, and wakes those who wait for it.
    func note(
        _ change: UserChange, _ found: MessageStreamID, _ message: MessageID? = nil, for users: [UserID],
        _ events: inout RecordedEvents
    ) throws {
        guard !users.isEmpty else { return }
        try StreamUserRepository(transaction).note(change, of: found, message, for: users, at: transaction.now)
        events.record(.messagesChanged(of: users))
    }

    /// The key of a stream that is not deleted.
    func key(_ stream: MessageStreamID) throws -> StreamKey {
        guard let key = try StreamKeyRepository(transaction, keys: context.keys.personal).find(stream) else {
            throw Self.unknown
        }
        return key
    }

    static func full(_ detail: String) -> Refusal { Refusal(.conflict, detail, state: "full") }
}

extension SessionStore {
    /// Writes in streams as ``act(for:_:)`` does, and counts it in a transaction of its own before: what is refused, and
    /// what repeats and changes nothing, counts too.
    ///
    /// - Throws: `Refusal` `rate_limited`; what ``act(for:_:)`` throws.
    @discardableResult
    func write<T: Sendable>(
        for session: Session, by context: ServiceContext,
        _ body: @Sendable @escaping (any Transaction, SessionHolder, inout RecordedEvents) throws -> T
    ) async throws -> T {
        if context.rateLimiting == .on {
            let limit = RateLimit(count: context.policy[\.streams].writesPerMinute, per: 60)
            try await act(for: session) { transaction, holder, _ in
                try RateRepository(transaction).count("streams \(holder.user.id)", limit: limit)
            }
        }
        return try await act(for: session, body)
    }
}
