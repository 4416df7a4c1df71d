import Database
import Domain
import Foundation
import Repositories
import Synchronization
import Tokens

/// A provider with its parsed keys. A provider that is read again is another object.
package final class CachedProvider: Sendable {
    package let provider: Provider
    package let applications: [Application]
    /// Its registered keys, including revoked ones.
    package let keyRecords: [ProviderKeyRecord]
    let keys: [ProviderKeyID: RegisteredKey]
    /// The keys of its issuer by the `kid` in their key set, valid ones first; empty without an issuer.
    private let issuerKeys: [String: [RegisteredKey]]
    /// The signed answers that it requested: introspections, and polls that returned events.
    let signatures: RecentAttempts

    fileprivate init(
        _ provider: Provider, _ applications: [Application], _ keyRecords: [ProviderKeyRecord],
        signatures: RecentAttempts
    ) throws {
        self.signatures = signatures
        (self.provider, self.applications, self.keyRecords) = (provider, applications, keyRecords)
        var keys: [ProviderKeyID: RegisteredKey] = [:]
        var issuerKeys: [String: [RegisteredKey]] = [:]
        for record in keyRecords {
            let key = try RegisteredKey(record)
            // An issuer's key verifies only ID tokens, so it is never found by an id.
            guard record.origin == .issuer else {
                keys[record.id] = key
                continue
            }
            let name = record.issuerKeyID ?? ""
            let others = issuerKeys[name] ?? []
            issuerKeys[name] = key.retired ? others + [key] : [key] + others
        }
        (self.keys, self.issuerKeys) = (keys, issuerKeys)
    }

    func key(_ id: ProviderKeyID?) -> RegisteredKey? {
        id.flatMap { keys[$0] }
    }

    /// The issuer's key that the header of an ID token names. If several keys have the `kid`, it is the one with the
    /// same `alg`. A header without `kid` means the only valid key with its `alg` (OpenID Connect Core 1.0 §10.1).
    func issuerKey(of header: TokenHeader) -> RegisteredKey? {
        guard let name = header.keyID else {
            let fitting = issuerKeys.values.joined().filter {
                !$0.retired && $0.verificationKey.algorithm.rawValue == header.algorithm
            }
            return fitting.count == 1 ? fitting.first : nil
        }
        guard !name.isEmpty, let named = issuerKeys[name] else { return nil }
        return named.first { $0.verificationKey.algorithm.rawValue == header.algorithm } ?? named.first
    }

    /// Whether a valid key of the issuer matches the header of an ID token.
    func hasIssuerKey(for header: TokenHeader) -> Bool {
        issuerKey(of: header).map { !$0.retired && $0.verificationKey.algorithm.rawValue == header.algorithm } ?? false
    }
}

/// The providers that requests have used, by id.
package final class ProviderCache: Sendable {
    private let table = InvalidatingCache<ProviderID, CachedProvider>()
    private let store: any Database
    /// The recent attempts of each provider. They stay when the provider is read again. There are few providers, and
    /// none is deleted.
    private let attempts = Mutex<[ProviderID: Attempts]>([:])

    /// The recent attempts of one provider.
    private struct Attempts {
        let notifications = RecentAttempts("notifications of the provider")
        let signatures = RecentAttempts("requests for signed answers")
    }

    /// - Parameter store: the store from which providers are read.
    init(store: any Database) {
        self.store = store
    }

    /// The provider with an id, if it is cached.
    func known(_ id: ProviderID) -> CachedProvider? { table.known(id) }

    /// The provider with an id, including disabled ones; `nil` if there is none.
    func find(_ id: ProviderID?) async throws -> CachedProvider? {
        guard let id else { return nil }
        if let known = table.known(id) { return known }
        return try await table.find(id) {
            try await store.snapshot { transaction -> CachedProvider? in
                // Only for providers that exist, because callers can name any id.
                guard let provider = try ProviderRepository(transaction).find(id) else { return nil }
                let signatures = self.attempts(of: id).signatures
                return try CachedProvider(
                    provider, try ProviderRepository(transaction).listApplications(of: id),
                    try ProviderKeyRepository(transaction).list(of: id), signatures: signatures)
            }
        }
    }

    /// The notifications that a provider has sent to its users.
    func notifications(of id: ProviderID) -> RecentAttempts { attempts(of: id).notifications }

    private func attempts(of id: ProviderID) -> Attempts {
        attempts.withLock { attempts in
            if let known = attempts[id] { return known }
            let new = Attempts()
            attempts[id] = new
            return new
        }
    }

    /// The number of cached providers.
    var count: Int { table.count }

    func drop(_ id: ProviderID) {
        table.drop(id)
    }

    func dropAll() {
        table.drop { _ in true }
    }
}
