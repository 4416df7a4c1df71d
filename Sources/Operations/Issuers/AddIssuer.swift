import Database
import Delivery
import Domain
import Foundation
import Repositories
import Tokens

package extension Administration {
    /// Registers an OpenID provider by its URL, with its current keys and a first app.
    ///
    /// - Parameter name: the provider's name; the issuer's host by default.
    /// - Returns: what a new provider needs to sign users in, and the number of keys in its key set now.
    /// - Throws: `Refusal` `malformed_request` if the issuer's keys cannot be fetched or a name is not valid,
    ///   `conflict` for a slug, or a pair of issuer and audience, that is taken.
    func addIssuer(
        _ issuer: ProviderIssuer, name: String?, slug: Slug?, account: String?, avatarHosts: [String],
        tokenAlgorithm: AccessTokenAlgorithm = .rs256, readKeySet: KeySetReader.Read
    ) async throws -> (provider: Provider, applicationID: ApplicationID, keyCount: Int) {
        let name = name ?? issuer.host
        try PlainText.require(name, about: .name, bytes: 1...256, for: .prose)
        if let account { try PlainText.require(account, about: .account, bytes: 1...256, for: .prose) }
        guard let slug = slug ?? Slug(from: name) else {
            throw Refusal.noSlug
        }
        let (set, freshness) = try await keys(of: issuer, by: readKeySet)
        let provider = Provider(
            id: environment.newIdentifier(), slug: slug, name: name, account: account, avatarHosts: avatarHosts,
            createdAt: environment.now(), disabledAt: nil, tokenAlgorithm: tokenAlgorithm, issuer: issuer)
        let application = Application(id: environment.newIdentifier(), providerID: provider.id, name: name)
        try await write(.manage) { transaction, events in
            let providers = ProviderRepository(transaction)
            for audience in issuer.audiences {
                guard try providers.find(issuer: issuer.url, audience: audience) == nil else {
                    throw Refusal.audienceRegistered(audience)
                }
            }
            let others = try providers.list(issuer: issuer.url, limit: IssuerKeys.mostProviders)
            guard others.count < IssuerKeys.mostProviders else {
                throw Refusal.issuerProvidersExhausted(IssuerKeys.mostProviders)
            }
            guard try providers.insert(provider) else {
                throw Refusal.slugTaken(slug)
            }
            try providers.insert(application, at: transaction.now)
            for (index, member) in set.members.enumerated() {
                let key = ProviderKeyRecord(
                    member, as: environment.newIdentifier(), of: provider.id, at: transaction.now)
                _ = try ProviderKeyRepository(transaction).insert(key)
                events.record(
                    index == 0
                        ? .providerAdded(provider.id, key.id, application.id)
                        : .providerKeyAdded(key.id, provider.id, signer: nil), by: actor)
            }
            let now = transaction.now
            try IssuerRepository(transaction).insert(
                issuer.url,
                IssuerReading(attemptedAt: now, readAt: now, freshUntil: now.addingTimeInterval(freshness)))
        }
        return (provider, application.id, set.members.count)
    }

    private func keys(
        of issuer: ProviderIssuer, by readKeySet: KeySetReader.Read
    ) async throws -> (WebKeySet, freshness: TimeInterval) {
        let (bytes, cacheControl): ([UInt8], String?)
        switch await readKeySet(issuer.url) {
        case .read(let read, let field): (bytes, cacheControl) = (read, field)
        case .failed(let reason):
            throw Refusal.issuerUnreachable(reason)
        }
        do {
            let set = try WebKeySet(bytes, allowing: issuer.signatureAlgorithms)
            guard !set.members.isEmpty else {
                throw Refusal.issuerWithoutKeys
            }
            return (set, IssuerReading.freshness(byCacheControl: cacheControl))
        } catch let defect as TokenDefect {
            throw Refusal.issuerKeysUnreadable(defect.detail)
        }
    }
}
