import Database
import Domain
import Repositories

/// The two sides of an authorization, as far as they must be verified for it. The one place that says who may take part.
struct AuthorizationParties {
    let required: Assurance
    let transaction: any Transaction

    /// Judges by the policy in force.
    init(_ policy: CurrentPolicy, in transaction: any Transaction) {
        required = policy[\.authorizations].requiredLevel
        self.transaction = transaction
    }

    /// Whether a user may take part at this moment: verified, and not banned.
    func mayTakePart(_ user: UserID?) throws -> Bool {
        guard let user, try isVerified(user) else { return false }
        return try ban(of: user) == nil
    }

    /// Whether a user has the level.
    func isVerified(_ user: UserID) throws -> Bool {
        try UserRepository(transaction).find(user).map { $0.assurance >= required } ?? false
    }

    /// What keeps a user from messaging; `nil` where nothing does.
    func ban(of user: UserID) throws -> BanEntry? {
        BanEntry.activeBan(
            among: try BanRepository(transaction).holdsInForce(on: user), for: .messaging, at: transaction.now)
    }

    /// Refuses a caller who may not take part.
    ///
    /// - Throws: `Refusal` `user_banned`, or `not_verified` with the level that is needed.
    func requireCaller(_ user: UserID) throws {
        if let entry = try ban(of: user) { throw Refusal.messagingBanned(by: entry) }
        guard try isVerified(user) else {
            throw Refusal(
                .notVerified, "You need the level \(required.rawValue) for this: show a card first.",
                reason: .caller, requiredLevel: required)
        }
    }

    /// Refuses what needs the other side to be verified too.
    ///
    /// - Throws: `Refusal` `not_verified` with the level that is needed.
    func requirePartner(_ user: UserID?) throws {
        guard try mayTakePart(user) else { throw partnerIsNotVerified }
    }

    /// The other side lacks the level.
    var partnerIsNotVerified: Refusal {
        Refusal(
            .notVerified, "The other person needs the level \(required.rawValue) for this.", reason: .partner,
            requiredLevel: required)
    }
}
