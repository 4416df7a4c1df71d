import Database
import Domain
import Foundation
import Repositories

/// A user's access to streams: reads the facts that `MessageStreamRule` needs, and turns the verdict into a refusal.
struct MessageStreamAccess {
    let context: Service
    let transaction: any Transaction
    /// The user whose access is checked.
    let user: User

    init(_ context: Service, _ user: User, in transaction: any Transaction) {
        self.context = context
        self.transaction = transaction
        self.user = user
    }

    /// A stream of the user's provider, and the user's membership.
    struct Found {
        let stream: MessageStream
        let member: StreamMember?

        var membership: MessageStreamRule.Membership {
            member.map { $0.leftAt == nil ? .current : .former } ?? .never
        }

        /// The last message that the user may see.
        var lastVisible: Int64 { member?.leftAt ?? stream.lastSequence }
    }

    /// Finds a stream by its id, including deleted ones.
    ///
    /// - Throws: `Refusal` `not_found`, also for another provider's stream.
    func find(_ text: String) throws -> Found {
        guard let id = MessageStreamID(text[...]), let found = try find(id) else { throw Refusal.unknownStream }
        return found
    }

    func find(_ id: MessageStreamID) throws -> Found? {
        guard let stream = try MessageStreamRepository(transaction).find(id), stream.providerID == user.providerID
        else { return nil }
        return Found(stream: stream, member: try StreamMemberRepository(transaction).find(user.id, in: id))
    }

    /// Sends ahead the queries that every action in a stream needs, except those that depend on the time.
    ///
    /// - Parameter more: sends further queries of this action.
    static func lookAhead(
        _ text: String, of session: Session,
        _ more: @Sendable @escaping (MessageStreamID, any Transaction) throws -> Void = { _, _ in }
    ) -> SessionHolder.Ahead {
        { transaction in
            guard let stream = MessageStreamID(text[...]) else { return }
            let members = StreamMemberRepository(transaction)
            _ = try MessageStreamRepository(transaction).find(stream)
            _ = try (members.find(session.userID, in: stream), members.list(of: stream))
            try more(stream, transaction)
        }
    }

    /// Finds a stream in which the user may take an action.
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
        let (kind, other) = (found.stream.kind, try partner(in: found))
        return try transaction.together { transaction in
            let parties = parties(kind, in: transaction)
            let isBanned = try parties.ban(of: user.id) != nil
            return rule(found, isBanned: isBanned, partner: try other.map { try state(of: $0, parties) }).verdict(
                on: action)
        }
    }

    /// The facts for a verdict, from the user's and the other side's data.
    ///
    /// - Parameter partner: `nil` if the stream has no other side.
    func rule(_ found: Found, isBanned: Bool, partner: MessageStreamRule.Partner?) -> MessageStreamRule {
        let stream = found.stream
        let isAlone = stream.kind.isBetweenTwo && found.member != nil
        return MessageStreamRule(
            kind: stream.kind, isDeleted: stream.deletedAt != nil, membership: found.membership,
            isCreator: stream.createdBy == user.id, isBanned: isBanned,
            hasLevel: user.assurance >= parties(stream.kind).required,
            partner: partner ?? (isAlone ? .notPermitted : .permitted))
    }

    /// Refuses a user who may not write in streams of a kind.
    ///
    /// - Throws: `Refusal` `user_banned`, `not_verified`.
    func requireWriter(_ kind: MessageStream.Kind) throws { try parties(kind).requireCaller(user.id) }

    func parties(_ kind: MessageStream.Kind, in transaction: (any Transaction)? = nil) -> AuthorizationParties {
        let transaction = transaction ?? self.transaction
        return kind.isBetweenTwo
            ? AuthorizationParties(context.policy, in: transaction)
            : AuthorizationParties(required: context.policy[\.streams].requiredLevel, in: transaction)
    }

    /// The other user of a stream between two; `nil` for other streams, and if the other user was erased.
    private func partner(in found: Found) throws -> UserID? {
        guard found.stream.kind.isBetweenTwo, found.member != nil else { return nil }
        return try StreamMemberRepository(transaction).present(in: found.stream.id).first { $0 != user.id }
    }

    /// Reads all facts about the other side together, whatever the first results are.
    private func state(of other: UserID, _ parties: AuthorizationParties) throws -> MessageStreamRule.Partner {
        let (isPermitted, isBanned) = (try parties.arePermitted(user.id, other), try parties.ban(of: other) != nil)
        let isVerified = try parties.isVerified(other)
        return Self.partner(isPermitted: isPermitted, isBanned: isBanned, isVerified: isVerified)
    }

    static func partner(isPermitted: Bool, isBanned: Bool, isVerified: Bool) -> MessageStreamRule.Partner {
        isPermitted && !isBanned ? isVerified ? .permitted : .notVerified : .notPermitted
    }

    private func refuse(_ verdict: MessageStreamRule.Verdict, _ kind: MessageStream.Kind) throws {
        let parties = parties(kind)
        switch verdict {
        case .allowed: return
        case .unknown: throw Refusal.unknownStream
        case .banned, .levelTooLow: try parties.requireCaller(user.id)
        case .partnerNotVerified: throw parties.partnerIsNotVerified
        case .closed:
            throw Refusal.streamClosed
        case .left: throw Refusal.streamLeft
        case .fixed:
            throw Refusal.unsupported(by: kind)
        }
        throw Refusal.unknownStream
    }

    /// Refuses if the user may not open a conversation with another user, or add that user to one.
    ///
    /// - Throws: `Refusal` `not_found` or `conflict`, which do not reveal whether the user exists.
    func requireAddable(_ other: UserID?, to kind: MessageStream.Kind) throws {
        if kind == .conversation, context.policy[\.streams].conversationRequires == .provider {
            guard let other, try !BlockRepository(transaction).holds(other, blocks: user.id) else {
                throw Refusal.unknownUser
            }
            return
        }
        guard let other, try parties(kind).arePermitted(user.id, other) else {
            throw Refusal.messagingUnauthorized
        }
        if kind.isBetweenTwo { try parties(kind).requirePartner(other) }
    }

    /// Records a change for users, and wakes their waiting calls.
    func note(
        _ change: UserChange, _ found: MessageStreamID, _ message: MessageID? = nil, for users: [UserID],
        _ events: inout RecordedEvents
    ) throws {
        guard !users.isEmpty else { return }
        try StreamUserRepository(transaction).note(change, of: found, message, for: users, at: transaction.now)
        events.record(.messagesChanged(of: users))
    }

    /// The key of a stream; refused if the stream was deleted.
    func key(_ stream: MessageStreamID) throws -> StreamKey {
        guard let key = try StreamKeyRepository(transaction, keys: context.keys.personal).find(stream) else {
            throw Refusal.unknownStream
        }
        return key
    }
}

extension Service {
    /// Writes in streams like ``act(for:inTurn:ahead:_:)``, and counts the change. This node counts it in memory first,
    /// so that refused changes count too. The transaction of the change counts it for all nodes.
    ///
    /// - Parameter stream: the id of the stream whose turn it takes, as the caller sent it; `nil` for a new stream.
    /// - Throws: `Refusal` `rate_limited`; what ``act(for:inTurn:ahead:_:)`` throws.
    @discardableResult
    func act<T: Sendable>(
        for session: Session, in stream: String?, ahead: SessionHolder.Ahead? = nil,
        _ body: @Sendable @escaping (any Transaction, SessionHolder, inout RecordedEvents) throws -> T
    ) async throws -> T {
        let turn = stream.flatMap { MessageStreamID($0[...]) }.map(Turn.stream)
        guard rateLimiting == .on else {
            return try await act(for: session, inTurn: turn, ahead: ahead, body)
        }
        let limit = RateLimit(count: policy[\.streams].writesPerMinute, per: 60)
        let key = "streams \(session.userID)"
        try node.callRates.count(.write, by: .writer(session.userID), limit: limit, now: environment.now())
        let counted: SessionHolder.Ahead = { transaction in
            try RateRepository(transaction).lookAhead([key])
            try ahead?(transaction)
        }
        return try await act(for: session, inTurn: turn, ahead: counted) { transaction, holder, events in
            let rates = RateRepository(transaction)
            let arrival = try rates.admitted(key, limit: limit)
            let result = try body(transaction, holder, &events)
            // Last, because a write discards the results that were read ahead.
            try rates.set(key, arrival)
            return result
        }
    }
}
