import Database
import Domain
import Foundation
import Repositories
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
    /// The signed introspections that it asked for.
    let signatures = RecentAttempts("Too many signed introspections were asked for")

    fileprivate init(
        _ provider: Provider, _ applications: [Application], _ keyRecords: [ProviderKeyRecord],
        _ keys: [ProviderKeyID: RegisteredKey]
    ) {
        (self.provider, self.applications) = (provider, applications)
        (self.keyRecords, self.keys) = (keyRecords, keys)
    }

    func key(_ id: ProviderKeyID?) -> RegisteredKey? {
        id.flatMap { keys[$0] }
    }
}

/// The providers that this process has been shown.
package final class ProviderCache: Sendable {
    private let table = InvalidatingCache<ProviderID, CachedProvider>()
    private let store: any Database

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
                guard let provider = try ProviderRepository(transaction).find(id) else { return nil }
                let records = try ProviderKeyRepository(transaction).list(of: id)
                let keys = try records.map { try RegisteredKey($0) }
                return CachedProvider(
                    provider, try ProviderRepository(transaction).listApplications(of: id), records,
                    Dictionary(uniqueKeysWithValues: keys.map { ($0.id, $0) }))
            }
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
