import Database
import Domain
import Repositories

/// A provider logs its user out everywhere.
package struct EndUserSessions: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// Ends all sessions of a user.
    ///
    /// - Throws: `Refusal` `not_found`, `provider_token_invalid` where the key or the provider ended meanwhile.
    package func callAsFunction(of externalID: String, at caller: ProvenProvider) async throws {
        let user = try await context.user(externalID, of: caller.id).id
        try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            try RevokeSessions(transaction: transaction)(
                .user(user), .byProvider, &events, by: "provider \(caller.id)", because: "provider_logout")
        }
    }
}
