import Database
import Domain
import Foundation
import Repositories

/// A user's device is given the servers that help it reach others, with credentials for those that relay.
package struct IssueCallServers: Sendable {
    private let context: ServiceContext
    private let store: SessionStore
    private let secret: Secret<String>?

    /// - Parameter secret: what the TURN servers share with the service; `nil` if there is none.
    package init(_ context: ServiceContext, secret: Secret<String>?) {
        self.context = context
        self.secret = secret
        store = SessionStore(context)
    }

    package struct Servers: Sendable {
        package let stun: [String]
        package let turn: [String]
        /// `nil` if there is no TURN server.
        package let credentials: TURNCredentials?
    }

    /// Issues credentials that end with the policy's lifetime: a TURN server asks nobody, so that a ban ends them no earlier.
    ///
    /// - Throws: `Refusal` `not_verified` or `user_banned`, `rate_limited`, `unavailable`.
    package func callAsFunction(for session: Session) async throws -> Servers {
        let policy = context.policy[\.calls]
        let now = try await store.act(for: session) { transaction, _, _ in
            try AuthorizationParties(required: context.policy[\.streams].requiredLevel, in: transaction)
                .requireCaller(session.userID)
            if context.rateLimiting == .on {
                try RateRepository(transaction).count(
                    "call servers \(session.userID)", limit: RateLimit(count: policy.credentialsPerHour, per: 3600))
            }
            return transaction.now
        }
        guard let secret, !policy.turnURLs.isEmpty else {
            return Servers(stun: policy.stunURLs, turn: [], credentials: nil)
        }
        let credentials = TURNCredentials(
            for: session.userID, until: now.addingTimeInterval(policy.turnLifetime), secret: secret)
        return Servers(stun: policy.stunURLs, turn: policy.turnURLs, credentials: credentials)
    }
}
