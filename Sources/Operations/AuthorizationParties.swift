import Database
import Identity
import Records

/// The two sides of an authorization, as far as they must be verified for it. The one place that says who may take part.
struct AuthorizationParties {
    let required: Assurance
    let transaction: any Transaction

    /// Judges by the policy in force.
    init(_ policy: CurrentPolicy, in transaction: any Transaction) {
        required = policy[\.authorizations].requiredLevel
        self.transaction = transaction
    }

    /// Whether a user may take part at this moment.
    func mayTakePart(_ user: UserID?) throws -> Bool {
        guard let user, let found = try UserRecords(transaction).find(user) else { return false }
        return found.assurance >= required
    }

    /// Refuses a caller who may not take part.
    ///
    /// - Throws: ``Refusal`` `not_verified` with the level that is needed.
    func requireCaller(_ user: UserID) throws {
        guard try mayTakePart(user) else {
            throw Refusal(
                .notVerified, "You need the level \(required.rawValue) for this: show a card first.",
                reason: "caller", requiredLevel: required)
        }
    }

    /// Refuses what needs the other side to be verified too.
    ///
    /// - Throws: ``Refusal`` `not_verified` with the level that is needed.
    func requirePartner(_ user: UserID?) throws {
        guard try mayTakePart(user) else { throw partnerIsNotVerified }
    }

    /// The other side lacks the level.
    var partnerIsNotVerified: Refusal {
        Refusal(
            .notVerified, "The other person needs the level \(required.rawValue) for this.", reason: "partner",
            requiredLevel: required)
    }
}
