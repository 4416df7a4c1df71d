import Database
import Domain
import Foundation
import Repositories

package extension Service.PresenceQuestion {
    /// The largest number of users.
    static let limit = 50

    static let nobody = Service.PresenceQuestion(users: [])
}

/// The presence of some users, as one user sees it.
struct SeenPresence: Sendable {
    /// One for each user of the question. Users that the caller may not see are offline.
    let presences: [UserPresence]
    /// The users that the caller may see.
    let visible: Set<UserID>

    static func offline(_ question: Service.PresenceQuestion) -> SeenPresence {
        SeenPresence(presences: question.users.map { UserPresence(of: $0) }, visible: [])
    }

    /// The users who are online.
    var online: Set<UserID> { Set(presences.filter(\.isOnline).map(\.user)) }
}

package extension Service {
    /// The users whose presence is asked for in one call.
    struct PresenceQuestion: Sendable, Equatable {
        /// Each once, in the order of the question.
        let users: [UserID]

        private init(users: [UserID]) { self.users = users }

        /// Parses user ids that are separated by commas; `nil` if one of them is none, or there are too many.
        package init?(_ text: String) {
            let parts = text.split(separator: ",", maxSplits: Self.limit, omittingEmptySubsequences: false)
            let found = parts.compactMap { UserID($0) }
            guard found.count == parts.count, found.count <= Self.limit else { return nil }
            var seen: Set<UserID> = []
            users = found.filter { seen.insert($0).inserted }
        }
    }

    /// Whether some users are online. A user that the caller may not see looks like one who was never online.
    ///
    /// - Throws: `Refusal` with the session codes, `unavailable`.
    func readPresence(_ question: PresenceQuestion, for session: Session) async throws -> [UserPresence] {
        try await seePresence(question, for: session).presences
    }
}

extension Service {
    func seePresence(_ question: PresenceQuestion, for session: Session) async throws -> SeenPresence {
        guard policy[\.streams].presence == .on, !question.users.isEmpty else { return .offline(question) }
        return try await read(for: session) { transaction, holder in
            try seePresence(question, holder.user, in: transaction)
        }
    }

    /// All facts are read for every user, so that the time of an answer depends on none of them.
    private func seePresence(
        _ question: PresenceQuestion, _ user: User, in transaction: any Transaction
    ) throws -> SeenPresence {
        let others = question.users.filter { $0 != user.id }
        let everyone = [user.id] + others
        return try transaction.together { transaction in
            let stored = try PresenceRepository(transaction).find(everyone)
            let users = try UserRepository(transaction).find(everyone)
            let bans = try BanRepository(transaction).holdsInForce(on: everyone)
            let permitted = try AuthorizationRepository(transaction).permitted(with: user.id, among: others)
            let companions = try StreamMemberRepository(transaction).companions(of: user.id, among: others)
            let blocked = try BlockRepository(transaction).blocked(with: user.id, among: others)
            let required = AuthorizationParties(policy, in: transaction).required
            func isVerified(_ one: UserID) -> Bool { users[one].map { $0.assurance >= required } ?? false }
            func isBanned(_ one: UserID) -> Bool {
                AuthorizationParties.ban(among: bans[one] ?? [], at: transaction.now) != nil
            }
            func isHidden(_ one: UserID) -> Bool { stored[one]?.visibility == .hidden }
            let visible = others.filter { other in
                PresenceRule(
                    isPermitted: permitted.contains(other) && isVerified(user.id) && isVerified(other),
                    shareConversation: companions.contains(other), isBlocked: blocked.contains(other),
                    isBanned: isBanned(user.id) || isBanned(other), isHidden: isHidden(user.id) || isHidden(other)
                ).maySee
            }
            let seen = Set(visible)
            return SeenPresence(
                presences: question.users.map { one in
                    seen.contains(one)
                        ? stored[one]?.presence(of: one, at: transaction.now) ?? UserPresence(of: one)
                        : UserPresence(of: one)
                }, visible: seen)
        }
    }
}

extension PresenceRepository.Entry {
    /// A user is online while a node that has the user's devices is live.
    fileprivate func presence(of user: UserID, at now: Date) -> UserPresence {
        guard let heartbeat else { return UserPresence(of: user, lastSeen: seenAt) }
        let isLive = now.timeIntervalSince(heartbeat) < ClusterMember.patience
        return UserPresence(of: user, isOnline: isLive, lastSeen: isLive ? nil : max(heartbeat, seenAt ?? heartbeat))
    }
}
