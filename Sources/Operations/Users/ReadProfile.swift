import Database
import Domain
import Repositories

/// What is known of a user, for the user's own eyes.
package struct Profile: Sendable, Confidential {
    package let user: User
    /// `<provider slug>/<external id>`.
    package let address: String
    /// What was proved; `nil` where nothing was yet.
    package let proved: AuthenticatedUser?
    package let age: Int?
}

/// A user reads the own profile.
package struct ReadProfile: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Reads it.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func callAsFunction(_ session: Session) async throws -> Profile {
        let known = try await context.caches.providers.find(session.providerID)
        let address = known?.provider.address(of: session.externalID) ?? session.externalID
        let today = CalendarDate(utcDayOf: context.environment.now())
        let keys = context.keys.personal
        return try await context.store.snapshot { transaction in
            guard let user = try UserRepository(transaction).find(session.userID) else {
                throw Refusal(.notFound, "The user is gone.")
            }
            let proved = try AuthenticatedUserRepository(transaction, keys: keys).find(user.id)
            return Profile(user: user, address: address, proved: proved, age: proved?.age(on: today))
        }
    }
}
