import Database
import Domain
import Repositories

/// A user sets their push endpoint.
package struct SetPushEndpoint: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Sets the endpoint; `nil` removes it.
    ///
    /// - Throws: `Refusal` `malformed_request` for an endpoint of an app that the policy does not name, `conflict`
    ///   before a phone number is proven.
    package func callAsFunction(_ arn: String?, for session: Session) async throws {
        let applications = context.policy[\.phones].pushApplications
        let endpoint = try arn.map { arn throws(Refusal) in try PushEndpoint(arn, of: applications) }
        let keys = context.keys.personal
        let pushes = PushAuthorizations(keys: keys, policy: context.policy, environment: context.environment)
        let isSet = try await SessionStore(context).act(for: session) { transaction, _, events in
            let isSet = try AuthenticatedUserRepository(transaction, keys: keys).setPushEndpoint(
                endpoint?.arn, of: session.userID)
            if isSet, endpoint != nil { try pushes.queueUnsent(to: session.userID, in: transaction, &events) }
            return isSet
        }
        guard isSet else {
            throw Refusal(
                .conflict, "Prove a phone number first.", about: .phoneVerification, state: Assurance.none.rawValue)
        }
    }
}
