import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// The keys of issuers that this process may use now. It fetches a key set if necessary, outside of any transaction. It
/// makes one fetch at a time for each issuer, so a slow issuer delays only its own users.
struct IssuerKeys: Sendable {
    private let context: Service

    init(_ context: Service) {
        self.context = context
    }

    /// The provider whose users the issuer of an ID token identifies: the one with its issuer and audience or, if there
    /// is none, another one with the issuer. So the token's signature is verified before its audience.
    func provider(of token: UnverifiedToken) async throws -> CachedProvider? {
        // The token is not verified yet, and some texts are not valid in statements.
        guard let issuer = token.issuerURL, issuer.utf8.count <= 1024, PlainText.isPlain(issuer, for: .identifier)
        else { return nil }
        let audiences = token.audiences
        let named = audiences.count == 1 ? audiences.first : token.payload["azp"]?.text
        let store = context.store
        if let named, named.utf8.count <= 256, PlainText.isPlain(named, for: .identifier) {
            let client = IssuerCache.Client(issuer: issuer, audience: named)
            let found = try await context.caches.issuers.clients.find(client) {
                try await store.snapshot { try ProviderRepository($0).find(issuer: issuer, audience: named) }
            }
            if let found { return try await context.caches.providers.find(found) }
        }
        let other = try await store.snapshot { try ProviderRepository($0).list(issuer: issuer, limit: 1).first }
        return try await context.caches.providers.find(other)
    }

    /// The provider with the keys that are valid now for a token with this header.
    ///
    /// - Parameter doubtful: whether the key with its `kid` did not verify its signature. The issuer may have given the
    ///   `kid` to another key.
    /// - Throws: `Refusal` `invalid_identity_token` with reason `unknown_key` if the issuer's keys could not be fetched
    ///   for too long; `unavailable`.
    func current(
        _ known: CachedProvider, of issuer: ProviderIssuer, for header: TokenHeader, doubtful: Bool = false
    ) async throws -> CachedProvider {
        let cache = context.caches.issuers
        let now = context.environment.now()
        let knowsKey = !doubtful && known.hasIssuerKey(for: header)
        var reading: IssuerReading
        if let remembered = cache.reading(of: issuer.url) {
            reading = remembered
        } else {
            reading = try await load(issuer.url)
        }
        var known = known
        // A request that finds a fetch in progress must wait for it like the request that began it.
        let isAwaited = !knowsKey && cache.isReading(issuer.url)
        if isAwaited || reading.isDue(at: now, knowsKey: knowsKey) {
            let before = reading
            reading = try await refresh(issuer.url)
            if reading.readAt != before.readAt {
                // Another node may have stored it, and this node may not have read that change yet.
                try await context.node.apply([.providerKeys(known.provider.id)])
            }
            known = try await context.caches.providers.find(known.provider.id) ?? known
        } else if !knowsKey {
            // Another node may have fetched the key set after the provider was read.
            known = try await context.caches.providers.find(known.provider.id) ?? known
        }
        guard reading.mayServe(at: context.environment.now()) else {
            throw Refusal.issuerKeysExpired
        }
        return known
    }

    /// Fetches the key set of an issuer if no node did in the last minute, and stores its keys.
    ///
    /// - Returns: when it was fetched.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    func refresh(_ issuer: String) async throws -> IssuerReading {
        try await context.caches.issuers.read(issuer) { try await read(issuer) }
    }

    private func load(_ issuer: String) async throws -> IssuerReading {
        guard let reading = try await context.read({ try IssuerRepository($0).find(issuer) }) else {
            throw Refusal.issuerNotRegistered
        }
        context.caches.issuers.remember(reading, of: issuer)
        return reading
    }

    private func read(_ issuer: String) async throws -> IssuerReading {
        let claim = try await context.store.transaction { transaction in
            try IssuerRepository(transaction).claim(issuer) ? transaction.now : nil
        }
        guard let claim else { return try await load(issuer) }
        var failure: String?
        switch await context.readKeySet(issuer) {
        case .failed(let reason): failure = reason
        case .read(let bytes, let cacheControl):
            do {
                let defect = try await store(bytes, of: issuer, claimedAt: claim)
                let seconds = IssuerReading.freshness(byCacheControl: cacheControl)
                try await context.store.transaction {
                    try IssuerRepository($0).end(issuer, claimedAt: claim, freshFor: seconds, despite: defect?.detail)
                }
            } catch let defect as TokenDefect {
                failure = defect.detail
            }
        }
        if let failure {
            try await context.store.transaction {
                try IssuerRepository($0).end(issuer, claimedAt: claim, failure: failure)
            }
        }
        return try await load(issuer)
    }

    /// Stores a key set for every provider of the issuer, in a transaction for each. A provider that cannot store it
    /// does not affect the others.
    ///
    /// - Returns: why a provider did not get all of its new keys; `nil` if each did.
    /// - Throws: `TokenDefect` if it is not a valid key set for a provider, after the others have it.
    private func store(_ bytes: [UInt8], of issuer: String, claimedAt claim: Date) async throws -> TokenDefect? {
        let ids = try await context.read {
            try ProviderRepository($0).list(issuer: issuer, limit: Self.mostProviders)
        }
        let environment = context.environment
        var (unreadable, tooMany): (TokenDefect?, TokenDefect?)
        for id in ids {
            guard let provider = try await context.caches.providers.find(id)?.provider.issuer else { continue }
            do {
                let set = try WebKeySet(bytes, allowing: provider.signatureAlgorithms)
                let defect = try await context.write { transaction, events -> TokenDefect? in
                    // If this node was suspended and another one fetched the key set since, nothing is stored.
                    guard try IssuerRepository(transaction).isClaimed(issuer, at: claim) else { return nil }
                    return try StoreIssuerKeys(transaction: transaction, environment: environment)(
                        set, of: provider, for: id, &events)
                }
                tooMany = tooMany ?? defect
            } catch let defect as TokenDefect {
                unreadable = unreadable ?? defect
            }
        }
        if let unreadable { throw unreadable }
        return tooMany
    }

    /// Records a new client that requested ID tokens for a provider (`azp`), once for each process.
    func audit(_ token: IdentityToken, of provider: Provider) async throws {
        guard let party = token.party,
            provider.issuer?.audiences.contains(where: { $0.hasSameBytes(as: party) }) != true,
            context.caches.issuers.isNew(party, of: provider.id)
        else { return }
        try await context.write { _, events in
            events.record(.providerChanged(provider.id, detail: "ID tokens requested by the client \(party) (azp)"))
        }
    }

    /// The maximum number of providers with one issuer.
    static let mostProviders = 1000
}
