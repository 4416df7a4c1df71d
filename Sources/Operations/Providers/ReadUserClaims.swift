import Database
import Domain
import Repositories

/// What a provider may know of its own user: never a name, a number or an address.
package struct ReadUserClaims: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

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

    /// One of the provider's users, as far as providers may know them. What a card proved is told while the level holds
    /// that the card gave.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ externalID: String, of provider: ProviderID) async throws -> UserClaims {
        let user = try await context.user(externalID, of: provider)
        let today = CalendarDate(utcDayOf: context.environment.now())
        let keys = context.keys.personal
        let (proved, isBanned) = try await context.read { transaction in
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
}
