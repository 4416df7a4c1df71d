import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories

/// Where a provider is told what happens to its users.
package struct ManageWebhook: Sendable {
    private let context: Service
    private let allowsLoopback: Bool

    /// - Parameter allowingLoopback: takes receivers on this machine: the switch for development and tests.
    package init(_ context: Service, allowingLoopback: Bool) {
        self.context = context
        allowsLoopback = allowingLoopback
    }

    /// The receiver's URL.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ provider: ProviderID) async throws -> String {
        guard let url = try await context.read({ try ProviderWebhookRepository($0).find(provider) }) else {
            throw Refusal.noWebhook
        }
        return url
    }

    /// Sets it, in its one spelling, which is the answer.
    ///
    /// - Throws: `Refusal` `malformed_request` for what is no `PublicURL`, or whose host has a private address now;
    ///   `provider_token_invalid` where the key that signed, or the provider, ended meanwhile; `rate_limited`.
    package func set(_ text: String, by caller: FreshProof) async throws -> String {
        guard let url = PublicURL(text, allowingLoopback: allowsLoopback) else {
            throw Refusal.notPublicURL(.webhookURL)
        }
        try await context.countReceiverChange("webhook", of: caller.id)
        guard await !url.isPrivate(of: .provider(caller.id)) else {
            throw Refusal.privateHost(.webhookURL)
        }
        try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            try ProviderWebhookRepository(transaction).set(url.description, of: caller.id)
            events.record(.webhookSet(caller.id, by: caller.provider.keyID), by: "provider \(caller.id)")
        }
        return url.description
    }

    /// Takes it away.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` where the key that signed, or the provider, ended meanwhile;
    ///   `rate_limited`.
    package func remove(by caller: FreshProof) async throws {
        try await context.countReceiverChange("webhook", of: caller.id)
        try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            try ProviderWebhookRepository(transaction).remove(caller.id)
            events.record(.webhookRemoved(caller.id, by: caller.provider.keyID), by: "provider \(caller.id)")
        }
    }
}
