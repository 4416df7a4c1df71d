import Database
import Domain
import PhoneNumbers
import Repositories

package extension Service {
    /// The user of the same provider who can be found by an address: a number, or the provider's name for the user.
    ///
    /// A user who is hidden, banned, unknown or blocks the caller gives the same answer after the same statements.
    ///
    /// - Throws: `Refusal` `not_found`; `not_verified` or `user_banned` for the caller; `rate_limited`, `unavailable`.
    func resolveAddress(_ address: SoughtAddress, for session: Session) async throws -> UserID {
        let slug = try await caches.providers.find(session.providerID)?.provider.slug
        // The result is returned from the transaction before it is refused, so that a failed attempt stays counted.
        let found = try await act(for: session) { transaction, _, _ in
            let parties = AuthorizationParties(
                required: policy[\.addresses].requiredLevel, in: transaction)
            try parties.requireCaller(session.userID)
            try countResolve(session, in: transaction)
            let candidate = try holder(of: address, slug, session, in: transaction)
            // A user is read in any case, so that the time does not reveal the result.
            let other = candidate ?? session.userID
            let isBanned = try parties.ban(of: other) != nil
            let isBlocked = try BlockRepository(transaction).holds(other, blocks: session.userID)
            return isBanned || isBlocked ? nil : candidate
        }
        guard let found else { throw Refusal.unknownAddress }
        return found
    }

    private func holder(
        of address: SoughtAddress, _ own: Slug?, _ session: Session, in transaction: any Transaction
    ) throws -> UserID? {
        let addresses = FindableAddressRepository(transaction)
        switch address {
        case .phone(let number):
            return try addresses.holder(
                ofNumber: keys.personal.phoneIndexes(number.e164), at: session.providerID)
        case .name(let slug, let externalID):
            let found = try addresses.holder(ofName: externalID, at: session.providerID)
            return slug == own ? found : nil
        }
    }

    /// Counts by user and by device, so neither many users of one device nor many devices of one user can search
    /// faster.
    private func countResolve(_ session: Session, in transaction: any Transaction) throws {
        guard rateLimiting == .on else { return }
        let limit = RateLimit(count: policy[\.addresses].resolvesPerHour, per: 3600)
        let rates = RateRepository(transaction)
        try rates.count("resolve user \(session.userID)", limit: limit)
        try rates.count("resolve device \(session.deviceID)", limit: limit)
    }
}
