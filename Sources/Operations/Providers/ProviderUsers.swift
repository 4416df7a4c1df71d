import Database
import Domain
import Repositories

/// What a verified identity lets a provider know of its user: nothing that would name a person.
package struct UserClaims: Sendable {
    package let user: User
    /// Whether the user is of an age; `nil` where no identity is verified.
    package let isOver: @Sendable (_ years: Int) -> Bool?
    /// The first letters of first and last name; `nil` where no identity is verified.
    package let initials: String?
    /// Whether the user is kept from signing in.
    package let isBanned: Bool
}

package extension Service {
    /// One of the provider's users, as far as providers may know them: never by a name, a number or an address. What a card proved is told while the level holds
    /// that the card gave.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readUserClaims(_ externalID: String, of provider: ProviderID) async throws -> UserClaims {
        let user = try await user(externalID, of: provider)
        let today = CalendarDate(utcDayOf: environment.now())
        let keys = keys.personal
        let (proved, isBanned) = try await read { transaction in
            let isCardShown = user.assurance >= .barcode
            return (
                try isCardShown ? AuthenticatedUserRepository(transaction, keys: keys).find(user.id) : nil,
                try RefuseBanned.activeBan(on: user.id, in: transaction) != nil
            )
        }
        let age = proved?.age(on: today)
        return UserClaims(
            user: user, isOver: { years in age.map { $0 >= years } }, initials: proved?.initials, isBanned: isBanned)
    }

    /// Logs a provider's user out everywhere.
    ///
    /// - Throws: `Refusal` `not_found`, `provider_token_invalid` where the key or the provider ended meanwhile.
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
