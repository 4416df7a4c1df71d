import Database
import Domain
import Repositories

/// A user's stored data, as the user sees it.
package struct Profile: Sendable, Confidential {
    package let user: User
    /// `<provider slug>/<external id>`.
    package let address: String
    /// The proved data; `nil` if there is none yet.
    package let proved: AuthenticatedUser?
    package let age: Int?
}

/// A user reads their own profile.
package struct ReadProfile: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Reads the profile.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func callAsFunction(_ session: Session) async throws -> Profile {
        let known = try await context.caches.providers.find(session.providerID)
        let address = known?.provider.address(of: session.externalID) ?? session.externalID
        let today = CalendarDate(utcDayOf: context.environment.now())
        let keys = context.keys.personal
        return try await context.store.snapshot { transaction in
            guard let user = try UserRepository(transaction).find(session.userID) else {
                throw Refusal(.notFound, "The user no longer exists.")
            }
            let proved = try AuthenticatedUserRepository(transaction, keys: keys).find(user.id)
            return Profile(user: user, address: address, proved: proved, age: proved?.age(on: today))
        }
    }
}
