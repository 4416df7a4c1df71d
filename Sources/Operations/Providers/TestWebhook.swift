import Database
import Domain
import Repositories

/// A provider asks for an event that is about nobody, to see that its webhook works.
package struct TestWebhook: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// Writes the event into the outbox, as any other: SSF's verification event, with its own id as the state.
    ///
    /// - Returns: the `jti` of the token that the receiver gets.
    /// - Throws: `Refusal` `not_found` without a webhook; `rate_limited`; `provider_token_invalid` if the key that signed,
    ///   or the provider, ended meanwhile.
    package func callAsFunction(by caller: ProvenProvider) async throws -> String {
        let id: OutboxMessageID = context.environment.newIdentifier()
        let isLimited = context.rateLimiting == .on
        let limit = RateLimit(count: 1, per: context.policy[\.webhooks].verificationInterval)
        try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            let webhooks = ProviderWebhookRepository(transaction)
            guard try webhooks.find(caller.id) != nil else {
                throw Refusal.noWebhook
            }
            if isLimited { try RateRepository(transaction).count("webhook test \(caller.id)", limit: limit) }
            try webhooks.enqueueTest(id, state: id.description, to: caller.id)
            events.record(.messageQueued)
        }
        return id.description
    }
}
