import Database
import Domain
import Repositories

/// A user's stored data, as the user sees it.
package struct Profile: Sendable, Confidential {
    package let user: User
    /// The user's address in the API: `<provider slug>/<external id>`.
    package let address: String
    /// The verified data; `nil` if there is none yet.
    package let proved: AuthenticatedUser?
    package let age: Int?
    /// The push endpoints of the session's device.
    package let endpoints: PushEndpoints?
    /// How long the user's messages are stored.
    package let storage: MessageStorage
    /// Whether the user has hidden the presence.
    package let presence: PresenceVisibility
}

package extension Service {
    /// The profile of a session's user.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func readProfile(_ session: Session) async throws -> Profile {
        let known = try await caches.providers.find(session.providerID)
        let address = known?.provider.address(of: session.externalID) ?? session.externalID
        let today = CalendarDate(utcDayOf: environment.now())
        let keys = keys.personal
        return try await read { transaction in
            guard let user = try UserRepository(transaction).find(session.userID) else {
                throw Refusal.userErased
            }
            let proved = try AuthenticatedUserRepository(transaction, keys: keys).find(user.id)
            let endpoints = try PushEndpointRepository(transaction, keys: keys).find(user.id, on: session.deviceID)
            return Profile(
                user: user, address: address, proved: proved, age: proved?.age(on: today), endpoints: endpoints,
                storage: try MessageStorageRepository(transaction).storage(of: user.id),
                presence: try PresenceRepository(transaction).visibility(of: user.id))
        }
    }
}
