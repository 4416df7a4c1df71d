import Database
import Domain
import Foundation
import Repositories

package extension Service {
    /// The servers through which devices connect for calls, with credentials for relays. The credentials expire after
    /// the policy's lifetime. A ban does not end them earlier, because a TURN server does not query this service.
    ///
    /// - Parameter secret: the secret that the TURN servers share with the service; `nil` if there is none.
    /// - Returns: the URLs; the credentials are `nil` if there is no TURN server.
    /// - Throws: `Refusal` `not_verified` or `user_banned`, `rate_limited`, `unavailable`.
    func issueCallServers(by secret: Secret<String>?, for session: Session) async throws -> (
        stun: [String], turn: [String], credentials: TURNCredentials?
    ) {
        let policy = policy[\.calls]
        let now = try await act(for: session) { transaction, _, _ in
            try AuthorizationParties(required: self.policy[\.streams].requiredLevel, in: transaction)
                .requireCaller(session.userID)
            if rateLimiting == .on {
                try RateRepository(transaction).count(
                    "call servers \(session.userID)", limit: RateLimit(count: policy.credentialsPerHour, per: 3600))
            }
            return transaction.now
        }
        guard let secret, !policy.turnURLs.isEmpty else {
            return (policy.stunURLs, [], nil)
        }
        let credentials = TURNCredentials(
            for: session.userID, until: now.addingTimeInterval(policy.turnLifetime), secret: secret)
        return (policy.stunURLs, policy.turnURLs, credentials)
    }
}
