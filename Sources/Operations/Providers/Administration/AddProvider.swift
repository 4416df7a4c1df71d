import Database
import Domain
import Foundation
import Repositories
import Tokens

package extension Administration {
    /// The data of a new provider.
    typealias ProviderRegistration = (provider: Provider, keyID: ProviderKeyID, applicationID: ApplicationID)

    /// Registers a provider with its first key and first app.
    ///
    /// - Throws: `Refusal` `conflict` for a slug or key that is taken, `malformed_request` for a name without a slug.
    func addProvider(
        name: String, slug: Slug?, account: String?, avatarHosts: [String], key: VerificationKey,
        tokenAlgorithm: AccessTokenAlgorithm = .rs256
    ) async throws -> ProviderRegistration {
        try PlainText.require(name, about: .name, bytes: 1...256, for: .prose)
        if let account { try PlainText.require(account, about: .account, bytes: 1...256, for: .prose) }
        guard let slug = slug ?? Slug(from: name) else {
            throw Refusal.noSlug
        }
        let now = environment.now()
        let provider = Provider(
            id: environment.newIdentifier(), slug: slug, name: name, account: account, avatarHosts: avatarHosts,
            createdAt: now, disabledAt: nil, tokenAlgorithm: tokenAlgorithm)
        let keyID: ProviderKeyID = environment.newIdentifier()
        let application = Application(id: environment.newIdentifier(), providerID: provider.id, name: name)
        try await write(.manage) { transaction, events in
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
        return (provider, keyID, application.id)
    }

    /// Adds an app to a provider.
    ///
    /// - Throws: `Refusal` `not_found`, `malformed_request` for the name.
    func addApplication(_ name: String, to provider: String) async throws -> Application {
        try PlainText.require(name, about: .name, bytes: 1...256, for: .prose)
        let id: ApplicationID = environment.newIdentifier()
        return try await write(.manage) { transaction, events in
            let records = ProviderRepository(transaction)
            let application = Application(id: id, providerID: try records.require(provider).id, name: name)
            try records.insert(application, at: transaction.now)
            events.record(.applicationAdded(id, application.providerID), by: actor)
            return application
        }
    }
}
