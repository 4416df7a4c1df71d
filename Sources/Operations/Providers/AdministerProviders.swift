import Database
import Domain
import Foundation
import Repositories
import Tokens

/// What admins do to providers from the command line.
package struct AdministerProviders: Sendable {
    private let store: any Database
    private let environment: Environment
    private let actor: String

    /// Works on a store in an admin's name.
    package init(store: any Database, environment: Environment, actor: String) {
        self.store = store
        self.environment = environment
        self.actor = actor
    }

    /// What a new provider needs to know.
    package struct Registration: Sendable {
        package let provider: Provider
        package let keyID: ProviderKeyID
        package let applicationID: ApplicationID
    }

    /// Registers a provider with its first key and first app.
    ///
    /// - Throws: `Refusal` `conflict` for a slug or key that is taken, `malformed_request` for a name without a slug.
    package func add(
        name: String, slug: Slug?, account: String?, avatarHosts: [String], key: VerificationKey
    ) async throws -> Registration {
        try PlainText.require(name, "A provider's name", bytes: 1...256, for: .prose)
        if let account { try PlainText.require(account, "An account", bytes: 1...256, for: .prose) }
        guard let slug = slug ?? Slug(from: name) else {
            throw Refusal(.malformedRequest, "No slug can be made of the name.", about: .slug)
        }
        let now = environment.now()
        let provider = Provider(
            id: environment.newIdentifier(), slug: slug, name: name, account: account, avatarHosts: avatarHosts,
            createdAt: now, disabledAt: nil)
        let keyID: ProviderKeyID = environment.newIdentifier()
        let application = Application(id: environment.newIdentifier(), providerID: provider.id, name: name)
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            guard try ProviderRepository(transaction).insert(provider) else {
                throw Refusal(.conflict, "The slug \(slug.text) is taken.", about: .slug, state: "taken")
            }
            let record = ProviderKeyRecord(
                id: keyID, providerID: provider.id, algorithm: key.algorithm.rawValue,
                subjectPublicKeyInfo: key.subjectPublicKeyInfo, origin: .admin, createdAt: now, retiredAt: nil,
                revokedAt: nil)
            guard try ProviderKeyRepository(transaction).insert(record) else {
                throw Refusal(.conflict, "This key is or was registered already.", state: "registered")
            }
            try ProviderRepository(transaction).insert(application, at: now)
            try AuditRepository(transaction).append(
                .providerAdded, subject: "provider \(provider.id)", actor: actor,
                detail: "key \(keyID) app \(application.id)", id: auditID)
            try ChangeLog(transaction).announce(.provider(provider.id))
        }
        return Registration(provider: provider, keyID: keyID, applicationID: application.id)
    }

    /// Disables a provider: its tokens, keys and sessions count no more.
    ///
    /// - Returns: how many sessions ended.
    package func disable(_ name: String, reason: AuditReason? = nil) async throws -> Int {
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let provider = try Self.find(name, in: transaction)
            try ProviderRepository(transaction).setDisabled(provider.id, at: transaction.now)
            let ended = try SessionRepository(transaction).end(
                .provider(provider.id), at: transaction.now, reason: "provider disabled")
            try AuditRepository(transaction).append(
                .providerDisabled, subject: "provider \(provider.id)", actor: actor, detail: "\(ended) sessions ended",
                reason: reason, id: auditID)
            try ChangeLog(transaction).announce(.provider(provider.id))
            return ended
        }
    }

    /// Enables a provider again; no session revives.
    package func enable(_ name: String) async throws {
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            let provider = try Self.find(name, in: transaction)
            try ProviderRepository(transaction).setDisabled(provider.id, at: nil)
            try AuditRepository(transaction).append(
                .providerEnabled, subject: "provider \(provider.id)", actor: actor, id: auditID)
            try ChangeLog(transaction).announce(.provider(provider.id))
        }
    }

    /// Adds an app to a provider.
    package func addApplication(_ name: String, to provider: String) async throws -> Application {
        try PlainText.require(name, "An app's name", bytes: 1...256, for: .prose)
        let id: ApplicationID = environment.newIdentifier()
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let provider = try Self.find(provider, in: transaction)
            let application = Application(id: id, providerID: provider.id, name: name)
            try ProviderRepository(transaction).insert(application, at: transaction.now)
            try AuditRepository(transaction).append(
                .applicationAdded, subject: "app \(id)", actor: actor, detail: "provider \(provider.id)", id: auditID)
            try ChangeLog(transaction).announce(.provider(provider.id))
            return application
        }
    }

    /// A provider with its apps and keys, by id or slug.
    package func show(_ name: String) async throws -> (Provider, [Application], [ProviderKeyRecord]) {
        try await store.snapshot { transaction in
            let provider = try Self.find(name, in: transaction)
            return (
                provider, try ProviderRepository(transaction).listApplications(of: provider.id),
                try ProviderKeyRepository(transaction).list(of: provider.id)
            )
        }
    }

    /// All providers by slug.
    package func list() async throws -> [Provider] {
        try await store.snapshot { try ProviderRepository($0).list() }
    }

    private static func find(_ name: String, in transaction: any Transaction) throws -> Provider {
        let records = ProviderRepository(transaction)
        let byID = try ProviderID(name[...]).flatMap { try records.find($0) }
        guard let provider = try byID ?? Slug(name).flatMap({ try records.find($0) }) else {
            throw Refusal(.notFound, "There is no provider \(name).")
        }
        return provider
    }
}
