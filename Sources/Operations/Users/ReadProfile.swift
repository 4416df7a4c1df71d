import Database
import Domain
import Repositories

package extension Service {
    /// What a user changes of the profile, all at once or nothing. `nil` leaves a member as it is.
    struct ProfileChange: Sendable, Confidential {
        /// The push endpoints of the session's device. Users of any level may have them.
        let endpoints: PushEndpointChange?
        /// How long messages that the user writes or gets are stored. It applies to later messages of each stream that the
        /// user is a member of.
        let storage: MessageStorage?
        let presence: PresenceVisibility?

        package init(
            endpoints: PushEndpointChange? = nil, storage: MessageStorage? = nil, presence: PresenceVisibility? = nil
        ) {
            self.endpoints = endpoints
            self.storage = storage
            self.presence = presence
        }
    }

    /// A user's stored data, as the user sees it.
    struct Profile: Sendable, Confidential {
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

    /// Changes the profile of the session's user.
    ///
    /// - Throws: `Refusal` `malformed_request` for an endpoint of an app that the policy does not name, the session
    ///   codes, `unavailable`.
    func changeProfile(_ change: ProfileChange, for session: Session) async throws {
        try change.endpoints?.validate(policy[\.phones].pushApplications)
        try await act(for: session) { transaction, holder, events in
            let user = holder.user.id
            if let endpoints = change.endpoints { try register(endpoints, by: session, in: transaction, &events) }
            if let storage = change.storage {
                try MessageStorageRepository(transaction).set(storage, of: user, at: transaction.now)
            }
            // A repetition wakes nobody.
            if let presence = change.presence, try PresenceRepository(transaction).set(presence, of: user) {
                events.record(.presenceChanged(of: [user]))
            }
        }
    }

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
