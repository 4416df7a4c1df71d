import Database
import Domain
import Repositories

/// A user decides by which of their own addresses others of the provider may find them. By none, unless they say so.
package struct ShareAddress: Sendable {
    private let context: ServiceContext
    private let store: SessionStore

    package init(_ context: ServiceContext) {
        self.context = context
        store = SessionStore(context)
    }

    /// Makes an address findable. A repetition has no effect.
    ///
    /// - Throws: `Refusal` `not_found` for an unknown type, `conflict` for a number before it is proven, `user_banned`,
    ///   `rate_limited`, `unavailable`.
    package func share(_ type: String, for session: Session) async throws {
        let type = try Self.type(type)
        let keys = context.keys.personal
        try await store.act(for: session) { transaction, holder, _ in
            let user = holder.user.id
            let parties = AuthorizationParties(context.policy, in: transaction)
            if let entry = try parties.ban(of: user) { throw Refusal.messagingBanned(by: entry) }
            if type == .phone,
                try AuthenticatedUserRepository(transaction, keys: keys).numberIndex(of: user) == nil
            {
                throw Refusal(
                    .conflict, "Prove a phone number first.", about: .phoneVerification,
                    state: Assurance.none.rawValue)
            }
            try countChange(of: user, in: transaction)
            try FindableAddressRepository(transaction).insert(type, of: user, at: transaction.now)
        }
    }

    /// Hides an address. A repetition has no effect. It is never refused for a limit: whoever wants to be found no more is
    /// not.
    ///
    /// - Throws: `Refusal` `not_found` for an unknown type, `unavailable`.
    package func hide(_ type: String, for session: Session) async throws {
        let type = try Self.type(type)
        try await store.act(for: session) { transaction, holder, _ in
            try FindableAddressRepository(transaction).delete(type, of: holder.user.id)
        }
    }

    /// The addresses by which the user can be found.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func list(for session: Session) async throws -> [FindableAddress] {
        try await store.snapshot(for: session) { transaction, holder in
            try FindableAddressRepository(transaction).list(of: holder.user.id)
        }
    }

    private func countChange(of user: UserID, in transaction: any Transaction) throws {
        guard context.rateLimiting == .on else { return }
        try RateRepository(transaction).count(
            "address \(user)", limit: RateLimit(count: context.policy[\.addresses].changesPerHour, per: 3600))
    }

    private static func type(_ text: String) throws(Refusal) -> AddressType {
        guard let type = AddressType(rawValue: text) else {
            throw Refusal(.notFound, "The path ends in phone or name.")
        }
        return type
    }
}
