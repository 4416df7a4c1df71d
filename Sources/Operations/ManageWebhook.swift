import Database
import Delivery
import Foundation
import Identity
import Records

/// Where a provider is told what happens to its users.
public struct ManageWebhook: Sendable {
    private let store: any Database
    private let policy: CurrentPolicy
    private let surroundings: Surroundings

    /// Manages receivers in a store.
    public init(store: any Database, policy: CurrentPolicy, surroundings: Surroundings) {
        self.store = store
        self.policy = policy
        self.surroundings = surroundings
    }

    /// The receiver's URL.
    ///
    /// - Throws: ``Refusal`` `not_found`.
    public func callAsFunction(_ provider: ProviderID) async throws -> String {
        guard let url = try await store.look({ try ProviderWebhookRecords($0).find(provider) }) else {
            throw Refusal(.notFound, "The provider has set no webhook.")
        }
        return url
    }

    /// Sets it.
    ///
    /// - Throws: ``Refusal`` `malformed_request` for what is no https URL.
    public func set(_ url: String, of provider: ProviderID) async throws {
        guard let parsed = ServiceURL(url), policy[\.webhooks].privateAddresses || !parsed.isPlain else {
            throw Refusal(.malformedRequest, "$.url is no https URL: ASCII, no user, no fragment, 1,024 bytes at most.")
        }
        let auditID = surroundings.newUUID()
        try await store.decide { transaction in
            try ProviderWebhookRecords(transaction).set(url, of: provider, at: transaction.now)
            try AuditRecords(transaction).append(
                .webhookSet, subject: "provider \(provider)", actor: "provider \(provider)", id: auditID)
        }
    }

    /// Takes it away.
    public func remove(of provider: ProviderID) async throws {
        let auditID = surroundings.newUUID()
        try await store.decide { transaction in
            try ProviderWebhookRecords(transaction).remove(provider)
            try AuditRecords(transaction).append(
                .webhookRemoved, subject: "provider \(provider)", actor: "provider \(provider)", id: auditID)
        }
    }
}
