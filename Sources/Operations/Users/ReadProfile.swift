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
            return Profile(user: user, address: address, proved: proved, age: proved?.age(on: today))
        }
    }

    /// Sets the endpoint; `nil` removes it.
    ///
    /// - Throws: `Refusal` `malformed_request` for an endpoint of an app that the policy does not name, `conflict`
    ///   before a phone number is proven.
    func setPushEndpoint(_ arn: String?, for session: Session) async throws {
        let applications = policy[\.phones].pushApplications
        let endpoint = try arn.map { arn throws(Refusal) in try PushEndpoint(arn, of: applications) }
        let keys = keys.personal
        let isSet = try await act(for: session) { transaction, _, events in
            let isSet = try AuthenticatedUserRepository(transaction, keys: keys).setPushEndpoint(
                endpoint?.arn, of: session.userID)
            if isSet, endpoint != nil {
                try authorizationPushes.queueUnsent(to: session.userID, in: transaction, &events)
            }
            return isSet
        }
        guard isSet else {
            throw Refusal.phoneRequired
        }
    }
}
