import Database
import Domain
import Repositories

package extension Service {
    /// The verified data of a user that a provider may read. It identifies no person. Whether the user has reached an age,
    /// and the first letters of first and last name, are `nil` if neither a card nor, for an age, a wallet says so.
    typealias UserClaims = (user: User, isOver: @Sendable (_ years: Int) -> Bool?, initials: String?, isBanned: Bool)

    /// One of the provider's users, without name, number or address. The data of a card is included while the user has
    /// the level that the card gave.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readUserClaims(_ externalID: String, of provider: ProviderID) async throws -> UserClaims {
        try await claims(of: try await user(externalID, of: provider))
    }

    /// One of the provider's users like ``readUserClaims(_:of:)``, by the service's id. Members of streams and senders
    /// of messages have it.
    ///
    /// - Throws: `Refusal` `not_found`, also for another provider's user and for an erased one.
    func readUserClaims(of text: String, at provider: ProviderID) async throws -> UserClaims {
        guard let id = UserID(text[...]) else { throw Refusal.unknownProviderUser }
        let keys = keys.personal
        let user = try await read { transaction in
            // An erased user's id must not lead to the provider's account.
            try DataKeyRepository(transaction, keys: keys).erasedAt(id) == nil
                ? UserRepository(transaction).find(id) : nil
        }
        guard let user, user.providerID == provider else { throw Refusal.unknownProviderUser }
        return try await claims(of: user)
    }

    private func claims(of user: User) async throws -> UserClaims {
        let today = CalendarDate(utcDayOf: environment.now())
        let keys = keys.personal
        let (proved, ages, isBanned) = try await read { transaction in
            let isCardShown = user.assurance >= .barcode
            return (
                try isCardShown ? AuthenticatedUserRepository(transaction, keys: keys).find(user.id) : nil,
                try AgeProofRepository(transaction, keys: keys).find(user.id)?.proof ?? [],
                try RefuseBanned.activeBan(on: user.id, in: transaction) != nil
            )
        }
        let age = proved?.age(on: today)
        return (
            user: user, isOver: { years in ages.proves(years) ? true : age.map { $0 >= years } },
            initials: proved?.initials, isBanned: isBanned
        )
    }

    /// Ends all sessions of a provider's user.
    ///
    /// - Throws: `Refusal` `not_found`, `provider_token_invalid` if the key or the provider ended meanwhile.
    func endUserSessions(of externalID: String, at caller: ProvenProvider) async throws {
        let user = try await user(externalID, of: caller.id).id
        try await write { transaction, events in
            try caller.requireActive(in: transaction)
            try RevokeSessions(transaction: transaction)(
                .user(user), .byProvider, &events, by: "provider \(caller.id)", because: "provider_logout")
        }
    }
}

extension Service {
    /// One of a provider's users, by the provider's own name.
    ///
    /// - Throws: `Refusal` `not_found`.
    func user(_ externalID: String, of provider: ProviderID) async throws -> User {
        guard (1...256).contains(externalID.utf8.count), !externalID.utf8.contains(0),
            let user = try await read({
                try UserRepository($0).find(providerID: provider, externalID: externalID)
            })
        else { throw Refusal.unknownProviderUser }
        return user
    }
}
