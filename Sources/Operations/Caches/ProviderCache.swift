import Database
import Domain
import Foundation
import Repositories
import Synchronization
import Tokens

/// A provider as this process needs it: its keys parsed and ready. One that was read anew is another object.
package final class CachedProvider: Sendable {
    /// The provider.
    package let provider: Provider
    /// Its apps, oldest first.
    package let applications: [Application]
    /// Its keys as registered, revoked ones too.
    package let keyRecords: [ProviderKeyRecord]
    let keys: [ProviderKeyID: RegisteredKey]
    /// The keys of its issuer by the `kid` of their key set, empty for one without; those that are valid come first.
    private let issuerKeys: [String: [RegisteredKey]]
    /// The signed answers that it asked for: introspections, and polls that took events.
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
            // An issuer's key proves nothing but ID tokens: it is never found by an id.
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

    /// The issuer's key that the header of an ID token names. Of several under one `kid` it is the one of its `alg`. A header
    /// without `kid` means the only valid key of its `alg` (OpenID Connect Core 1.0 §10.1).
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

    /// Whether a valid key of the issuer fits the header of an ID token.
    func hasIssuerKey(for header: TokenHeader) -> Bool {
        issuerKey(of: header).map { !$0.retired && $0.verificationKey.algorithm.rawValue == header.algorithm } ?? false
    }
}

/// The providers that this process has been shown.
package final class ProviderCache: Sendable {
    private let table = InvalidatingCache<ProviderID, CachedProvider>()
    private let store: any Database
    /// What each provider did of late, also before it was read anew: there are few providers, none of which is deleted.
    private let attempts = Mutex<[ProviderID: Attempts]>([:])

    /// What one provider did of late.
    private struct Attempts {
        let notifications = RecentAttempts("notifications of the provider")
        let signatures = RecentAttempts("requests for signed answers")
    }

    /// Remembers what a store holds.
    package init(store: any Database) {
        self.store = store
    }

    /// The provider with an id, as far as it is remembered.
    func known(_ id: ProviderID) -> CachedProvider? { table.known(id) }

    /// The provider with an id, disabled ones too; `nil` where there is none.
    func find(_ id: ProviderID?) async throws -> CachedProvider? {
        guard let id else { return nil }
        if let known = table.known(id) { return known }
        return try await table.find(id) {
            try await store.snapshot { transaction -> CachedProvider? in
                // Of providers that are there alone: anybody can name others.
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

    /// How many this process remembers.
    package var count: Int { table.count }

    func drop(_ id: ProviderID) {
        table.drop(id)
    }

    func dropAll() {
        table.drop { _ in true }
    }
}
