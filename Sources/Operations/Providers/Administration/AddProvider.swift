import Database
import Domain
import Foundation
import Repositories
import Tokens

/// An admin registers a provider with its first key and first app.
package struct AddProvider: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// What a new provider needs to know.
    package struct Registration: Sendable {
        package let provider: Provider
        package let keyID: ProviderKeyID
        package let applicationID: ApplicationID
    }

    /// Registers.
    ///
    /// - Throws: `Refusal` `conflict` for a slug or key that is taken, `malformed_request` for a name without a slug.
    package func callAsFunction(
        name: String, slug: Slug?, account: String?, avatarHosts: [String], key: VerificationKey,
        tokenAlgorithm: AccessTokenAlgorithm = .rs256
    ) async throws -> Registration {
        try PlainText.require(name, about: .name, bytes: 1...256, for: .prose)
        if let account { try PlainText.require(account, about: .account, bytes: 1...256, for: .prose) }
        guard let slug = slug ?? Slug(from: name) else {
            throw Refusal.noSlug
        }
        let (environment, actor) = (context.environment, context.actor)
        let now = environment.now()
        let provider = Provider(
            id: environment.newIdentifier(), slug: slug, name: name, account: account, avatarHosts: avatarHosts,
            createdAt: now, disabledAt: nil, tokenAlgorithm: tokenAlgorithm)
        let keyID: ProviderKeyID = environment.newIdentifier()
        let application = Application(id: environment.newIdentifier(), providerID: provider.id, name: name)
        try await context.write { transaction, events in
            guard try ProviderRepository(transaction).insert(provider) else {
                throw Refusal.slugTaken(slug)
            }
            let record = ProviderKeyRecord(
                id: keyID, providerID: provider.id, algorithm: key.algorithm.rawValue,
                subjectPublicKeyInfo: key.subjectPublicKeyInfo, origin: .admin, createdAt: now, retiredAt: nil,
                revokedAt: nil)
            guard try ProviderKeyRepository(transaction).insert(record) else {
                throw Refusal.keyRegistered
            }
            try ProviderRepository(transaction).insert(application, at: now)
            events.record(.providerAdded(provider.id, keyID, application.id), by: actor)
        }
        return Registration(provider: provider, keyID: keyID, applicationID: application.id)
    }
}
