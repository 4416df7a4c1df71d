import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories

/// The webhook of a provider: a URL that receives the security events of its users.
package extension Service {
    /// The URL of a provider's webhook.
    ///
    /// - Throws: `Refusal` `not_found`.
    func webhook(of provider: ProviderID) async throws -> String {
        guard let url = try await read({ try ProviderWebhookRepository($0).find(provider) }) else {
            throw Refusal.noWebhook
        }
        return url
    }

    /// Stores the normalised URL and returns it.
    ///
    /// - Parameter allowingLoopback: whether receivers on this machine are accepted, for development and tests.
    /// - Throws: `Refusal` `malformed_request` if it is not a `PublicURL`, or its host has a private address now;
    ///   `provider_token_invalid` if the signing key or the provider ended meanwhile; `rate_limited`.
    func setWebhook(
        _ text: String, by caller: FreshProof, allowingLoopback: Bool
    ) async throws -> String {
        guard let url = PublicURL(text, allowingLoopback: allowingLoopback) else {
            throw Refusal.notPublicURL(text, .webhookURL)
        }
        try await countReceiverChange("webhook", of: caller.id)
        guard await !url.isPrivate(of: .provider(caller.id)) else {
            throw Refusal.privateHost(.webhookURL)
        }
        try await write { transaction, events in
            try caller.requireActive(in: transaction)
            try ProviderWebhookRepository(transaction).set(url.description, of: caller.id)
            events.record(.webhookSet(caller.id, by: caller.provider.keyID), by: "provider \(caller.id)")
        }
        return url.description
    }

    /// Removes the webhook of a provider.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` if the signing key or the provider ended meanwhile; `rate_limited`.
    func removeWebhook(by caller: FreshProof) async throws {
        try await countReceiverChange("webhook", of: caller.id)
        try await write { transaction, events in
            try caller.requireActive(in: transaction)
            try ProviderWebhookRepository(transaction).remove(caller.id)
            events.record(.webhookRemoved(caller.id, by: caller.provider.keyID), by: "provider \(caller.id)")
        }
    }

    /// Writes SSF's verification event into the outbox, so that a provider sees whether its webhook works. The event is
    /// about no user, and its state is its own id.
    ///
    /// - Returns: the `jti` of the token that the receiver gets.
    /// - Throws: `Refusal` `not_found` without a webhook; `rate_limited`; `provider_token_invalid` if the signing key
    ///   or the provider ended meanwhile.
    func testWebhook(by caller: ProvenProvider) async throws -> String {
        let id: OutboxMessageID = environment.newIdentifier()
        let isLimited = rateLimiting == .on
        let limit = RateLimit(count: 1, per: policy[\.webhooks].verificationInterval)
        try await write { transaction, events in
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
