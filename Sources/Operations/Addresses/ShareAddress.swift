import Database
import Domain
import Repositories

package extension Service {
    /// Makes one of the user's own addresses findable; none is by default. A repetition has no effect.
    ///
    /// - Throws: `Refusal` `not_found` for an unknown type, `conflict` for a number before it is proven, `user_banned`,
    ///   `rate_limited`, `unavailable`.
    func shareAddress(_ type: String, for session: Session) async throws {
        let type = try Self.type(type)
        let keys = keys.personal
        try await act(for: session) { transaction, holder, _ in
            let user = holder.user.id
            let parties = AuthorizationParties(policy, in: transaction)
            if let entry = try parties.ban(of: user) { throw Refusal.messagingBanned(by: entry) }
            if type == .phone,
                try AuthenticatedUserRepository(transaction, keys: keys).numberIndex(of: user) == nil
            {
                throw Refusal.phoneRequired
            }
            try countChange(of: user, in: transaction)
            try FindableAddressRepository(transaction).insert(type, of: user, at: transaction.now)
        }
    }

    /// Hides an address. A repetition has no effect. It is never refused because of a limit, so a user can always stop
    /// being found.
    ///
    /// - Throws: `Refusal` `not_found` for an unknown type, `unavailable`.
    func hideAddress(_ type: String, for session: Session) async throws {
        let type = try Self.type(type)
        try await act(for: session) { transaction, holder, _ in
            try FindableAddressRepository(transaction).delete(type, of: holder.user.id)
        }
    }

    /// The addresses by which the user can be found.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func listAddresses(for session: Session) async throws -> [FindableAddressRepository.Entry] {
        try await read(for: session) { transaction, holder in
            try FindableAddressRepository(transaction).list(of: holder.user.id)
        }
    }

    private func countChange(of user: UserID, in transaction: any Transaction) throws {
        guard rateLimiting == .on else { return }
        try RateRepository(transaction).count(
            "address \(user)", limit: RateLimit(count: policy[\.addresses].changesPerHour, per: 3600))
    }

    private static func type(_ text: String) throws(Refusal) -> AddressType {
        guard let type = AddressType(rawValue: text) else {
            throw Refusal.unknownAddressType
        }
        return type
    }
}
