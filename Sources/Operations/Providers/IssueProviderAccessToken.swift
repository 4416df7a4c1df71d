import Domain
import Encoding
import Foundation
import Tokens

/// A provider's backend takes an access token for its calls (RFC 6749 §4.4).
package struct IssueProviderAccessToken: Sendable {
    private let context: Service
    private let authenticate: AuthenticateProvider

    package init(_ context: Service) {
        self.context = context
        authenticate = AuthenticateProvider(context)
    }

    /// An access token, how long it lives, and what it permits.
    package struct Answer: Sendable {
        package let token: Secret<String>
        /// Seconds.
        package let lifetime: Int
        package let scopes: Set<ProviderScope>
    }

    /// Signs a token for the provider that proves itself. Nothing of the token is kept: it ends with the key that signed
    /// the assertion.
    ///
    /// - Parameters:
    ///   - scope: the scopes that are asked for; `nil` for `ProviderScope.unasked`.
    ///   - cost: that of the call.
    /// - Throws: `Refusal` `provider_token_required`, `provider_token_invalid`; `malformed_request` with reason
    ///   `invalid_scope`; `rate_limited`.
    package func callAsFunction(
        _ assertion: ShownAssertion, scope: String?, at cost: CallCost
    ) async throws -> Answer {
        let caller = try await authenticate(assertion, at: cost)
        let scopes = try scope.map(ProviderScope.parse) ?? ProviderScope.unasked
        let now = context.environment.now()
        let lifetime = context.policy[\.accessTokens].providerLifetime
        let token = ProviderAccessToken(
            provider: caller.id, keyID: caller.keyID, scopes: scopes, identifier: context.environment.newUUID(),
            issuedAt: now, expiresAt: now.addingTimeInterval(lifetime))
        return Answer(
            token: try token.signed(with: context.keys.accessTokens, issuer: context.urls.issuer),
            lifetime: Int(saturating: lifetime), scopes: scopes)
    }
}
