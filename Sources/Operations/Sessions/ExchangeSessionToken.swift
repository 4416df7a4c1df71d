import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// A device exchanges its session's token for one that its provider verifies without a call (RFC 8693).
package struct ExchangeSessionToken: Sendable {
    private let context: ServiceContext
    private let check: CheckSession
    private let store: SessionStore

    package init(_ context: ServiceContext) {
        self.context = context
        check = CheckSession(context)
        store = SessionStore(context)
    }

    /// An access token, and how long it lives.
    package struct Answer: Sendable {
        package let token: Secret<String>
        /// Seconds.
        package let lifetime: Int
    }

    /// Signs a token for the provider of an authenticated session on its own device. Nothing of the token is kept.
    ///
    /// - Parameters:
    ///   - sessionToken: the session's token.
    ///   - audience: the provider's id; no other provider gets a token of the session.
    ///   - clientID: the app's id, if the request names one.
    /// - Throws: `Refusal` with the session codes; `rate_limited`; `malformed_request`, for another audience with reason `invalid_target`.
    package func callAsFunction(
        _ sessionToken: String, for audience: String, clientID: String?, on connection: ClientConnection
    ) async throws -> Answer {
        if context.rateLimiting == .on {
            // Each answer costs a signature, which takes twenty times a check.
            try connection.certificate?.exchanges.count(
                limit: RateLimit(count: context.policy[\.accessTokens].exchangedPerMinute, per: 60),
                now: context.environment.now())
        }
        let session = try await check(sessionToken, on: connection)
        guard ProviderID(audience[...]) == session.providerID else {
            throw Refusal(
                .malformedRequest, "audience is not the id of the provider that vouched for the session's user.",
                reason: .invalidTarget)
        }
        guard clientID == nil || clientID.flatMap({ ApplicationID($0[...]) }) == session.applicationID else {
            throw Refusal(.malformedRequest, "client_id is not the id of the session's app.")
        }
        // The node's memory may be a second old, and the token outlives that.
        let assurance = try await store.snapshot(for: session) { $1.user.assurance }
        let now = context.environment.now()
        let end = session.expiry(policy: context.policy[\.sessions])
        let lifetime = min(context.policy[\.accessTokens].sessionLifetime, end.timeIntervalSince(now))
        let token = SessionAccessToken(
            issuer: context.urls.issuer, session: session, assurance: assurance, identifier: UUID(),
            issuedAt: now, expiresAt: now.addingTimeInterval(lifetime))
        return Answer(
            token: try token.signed(with: context.keys.accessTokens), lifetime: max(0, Int(saturating: lifetime)))
    }
}
