import Database
import Domain
import Foundation
import Repositories

/// The verification of both sides of an authorization. Only this type decides who may take part.
struct AuthorizationParties {
    let required: Assurance
    let transaction: any Transaction

    /// Uses the level that the current policy requires.
    init(_ policy: CurrentPolicy, in transaction: any Transaction) {
        required = policy[\.authorizations].requiredLevel
        self.transaction = transaction
    }

    /// Uses the given level instead of the policy's.
    init(required: Assurance, in transaction: any Transaction) {
        self.required = required
        self.transaction = transaction
    }

    /// Whether two users have an approved authorization, requested by either of them.
    func arePermitted(_ user: UserID, _ other: UserID) throws -> Bool {
        let records = AuthorizationRepository(transaction)
        return try !records.permissions(askedBy: user, of: other).isEmpty
            || !records.permissions(askedBy: other, of: user).isEmpty
    }

    /// Whether a user may take part now: verified, and not banned.
    func mayTakePart(_ user: UserID?) throws -> Bool {
        guard let user, try isVerified(user) else { return false }
        return try ban(of: user) == nil
    }

    /// Whether a user has the required level.
    func isVerified(_ user: UserID) throws -> Bool {
        try UserRepository(transaction).find(user).map { $0.assurance >= required } ?? false
    }

    /// The ban that forbids messaging to a user; `nil` if there is none.
    func ban(of user: UserID) throws -> BanEntry? {
        Self.ban(among: try BanRepository(transaction).holdsInForce(on: user), at: transaction.now)
    }

    /// The entry in force, among some, that forbids messaging.
    static func ban(among entries: [BanEntry], at now: Date) -> BanEntry? {
        BanEntry.activeBan(among: entries, for: .messaging, at: now)
    }

    /// Refuses a caller who may not take part.
    ///
    /// - Throws: `Refusal` `user_banned`, or `not_verified` with the required level.
    func requireCaller(_ user: UserID) throws {
        if let entry = try ban(of: user) { throw Refusal.messagingBanned(by: entry) }
        guard try isVerified(user) else {
            let level = try UserRepository(transaction).find(user)?.assurance
            throw Refusal.levelRequired(required, from: level ?? .none)
        }
    }

    /// Refuses if the other side is not verified.
    ///
    /// - Throws: `Refusal` `not_verified` with the required level.
    func requirePartner(_ user: UserID?) throws {
        guard try mayTakePart(user) else { throw partnerIsNotVerified }
    }

    /// The refusal if the other side lacks the level.
    var partnerIsNotVerified: Refusal {
        Refusal.partnerLevelRequired(required)
    }
}
