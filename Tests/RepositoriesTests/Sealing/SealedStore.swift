import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

/// A store with one provider, and keys that can be added to under the hands of those who hold them.
struct SealedStore {
    let store: any Database
    let provider: ProviderID
    let keys: PersonalKeys

    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The key of a version, the same in every test.
    static func key(_ version: Int) -> SymmetricKey {
        SymmetricKey(data: [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: 32))
    }

    /// Keys of these versions that stay as they are.
    static func keys(wrapping: Set<Int> = [1], index: Set<Int> = [1]) throws -> PersonalKeys {
        try PersonalKeys(
            wrapping: Dictionary(uniqueKeysWithValues: wrapping.map { ($0, key($0)) }),
            index: Dictionary(uniqueKeysWithValues: index.map { ($0, key(100 + $0)) }))
    }

    /// Runs a body over a fresh store with a provider in it.
    static func run(
        wrapping: Set<Int> = [1], index: Set<Int> = [1], _ body: (SealedStore) async throws -> Void
    ) async throws {
        let clock: @Sendable () -> Date = { now }
        try await withStore(migrations: Schema.migrations, clock: clock) { store in
            let provider = ProviderID(UUID())
            let slug = try #require(Slug("test"))
            _ = try await store.write {
                try ProviderRepository($0).insert(
                    Provider(
                        id: provider, slug: slug, name: "Test", account: nil, avatarHosts: [], createdAt: now,
                        disabledAt: nil))
            }
            try await body(
                SealedStore(store: store, provider: provider, keys: try keys(wrapping: wrapping, index: index)))
        }
    }

    /// A user of the provider.
    func user(_ name: String) async throws -> User {
        try await store.write { [provider] in
            try UserRepository($0).findOrCreate(
                providerID: provider, externalID: name, newID: UserID(UUID()), at: Self.now)
        }
    }

    /// What a card of a person says.
    static func facts(_ name: String = "Ada Canary", number: String = "T64235789") throws -> CardFacts {
        var card = IdentityCard(source: .aamva, kind: .licence)
        card.name.given = name
        card.dateOfBirth = CalendarDate("1986-06-06")
        card.expiresOn = CalendarDate("2032-12-10")
        card.address = PostalAddress(street: "2300 Broad Street", city: "Richmond", jurisdiction: "VA")
        card.documentNumber = number
        card.jurisdiction = "VA"
        card.country = "USA"
        return try #require(CardFacts(card))
    }
}
