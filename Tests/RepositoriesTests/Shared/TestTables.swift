import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

/// A store of one engine with a provider, its key and app, a device with a certificate, and one user in it.
///
/// Every statement that a test runs through ``write(_:)`` and ``read(_:)`` is explained when the test ends: see
/// ``StatementPlans``.
struct TestTables: Sendable {
    let store: any Database
    let plans: StatementPlans
    let keys: PersonalKeys

    let provider = ProviderID(UUID())
    let providerKey = ProviderKeyID(UUID())
    let application = ApplicationID(UUID())
    let device = DeviceID(UUID())
    let user = UserID(UUID())

    /// The store's clock, which does not move.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Runs a body over a fresh store.
    static func run(
        _ kind: StoreKind, migrations: [Migration] = Schema.migrations, _ body: (TestTables) async throws -> Void
    ) async throws {
        let clock: @Sendable () -> Date = { now }
        try await withStore(kind, migrations: migrations, clock: clock) { store in
            let tables = TestTables(
                store: store, plans: StatementPlans(kind), keys: try SealedStore.keys(wrapping: [1, 2]))
            try await tables.fill()
            try await body(tables)
            try await tables.plans.requireNoScan(store)
        }
    }

    @discardableResult
    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.write { [plans] in try body(plans.recording($0)) }
    }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.read { [plans] in try body(plans.recording($0)) }
    }

    /// Runs a statement of the test's own, which is not explained.
    func sql(_ text: String, _ arguments: [Value] = []) async throws {
        _ = try await store.write { try $0.execute(text, arguments) }
    }

    /// How many rows a table has.
    func count(_ table: String) async throws -> Int {
        try await store.read { try $0.value("SELECT COUNT(*) FROM \(table)") ?? -1 }
    }

    private func fill() async throws {
        let slug = try #require(Slug("test"))
        let certificate = certificate(1)
        try await store.write { [self] transaction in
            _ = try ProviderRepository(transaction).insert(
                Provider(
                    id: provider, slug: slug, name: "Test", account: nil, avatarHosts: ["images.example"],
                    createdAt: Self.now, disabledAt: nil))
            try ProviderRepository(transaction).insert(
                Application(id: application, providerID: provider, name: "App"), at: Self.now)
            _ = try ProviderKeyRepository(transaction).insert(key(providerKey, bytes: [1]))
            _ = try DeviceRepository(transaction).insert(device, userAgent: "Test", presenceKey: nil, at: Self.now)
            try CertificateRepository(transaction).insert(
                certificate, subjectPublicKeyInfo: [1], authority: .of("authority"))
            try UserRepository(transaction).enqueueInsert(person(user, "ada"))
        }
    }

    func key(_ id: ProviderKeyID, bytes: [UInt8]) -> ProviderKeyRecord {
        ProviderKeyRecord(
            id: id, providerID: provider, algorithm: "ES256", subjectPublicKeyInfo: bytes, origin: .admin,
            createdAt: Self.now, retiredAt: nil, revokedAt: nil)
    }

    func person(_ id: UserID, _ name: String) -> User {
        User(id: id, providerID: provider, externalID: name, assurance: .none, createdAt: Self.now)
    }

    /// Another user of the provider.
    func newUser(_ name: String) async throws -> UserID {
        let person = person(UserID(UUID()), name)
        try await store.write { try UserRepository($0).enqueueInsert(person) }
        return person.id
    }

    /// Another device.
    func newDevice() async throws -> DeviceID {
        let id = DeviceID(UUID())
        _ = try await store.write {
            try DeviceRepository($0).insert(id, userAgent: nil, presenceKey: nil, at: Self.now)
        }
        return id
    }

    /// A certificate of the device; those of one number are equal.
    func certificate(_ number: Int, endsAfter seconds: TimeInterval = 3600, replaces: String? = nil)
        -> DeviceCertificate
    {
        DeviceCertificate(
            serial: String(number, radix: 16), thumbprint: .of("certificate \(number)"), deviceID: device,
            keyHash: .of("key \(number)"), notBefore: Self.now, notAfter: Self.now.addingTimeInterval(seconds),
            issuedAt: Self.now, replaces: replaces, firstSeenAt: nil, revoked: nil)
    }

    /// A session of the user on the device, opened some seconds ago; its token is the number.
    func session(
        _ number: Int, of user: UserID? = nil, on device: DeviceID? = nil, age: TimeInterval = 0, id: SessionID? = nil
    ) -> Session {
        let at = Self.now.addingTimeInterval(-age)
        return Session(
            id: id ?? SessionID(UUID()), tokenHash: .of("token \(number)"), userID: user ?? self.user,
            providerID: provider,
            externalID: "ada", applicationID: application, deviceID: device ?? self.device,
            thumbprint: .of("certificate 1"), providerKeyID: providerKey, state: .authenticated, createdAt: at,
            renewedAt: at, lastUsedAt: at, challengedAt: nil)
    }

    private static let nonceKey = NonceKey(Secret([UInt8](repeating: 1, count: 32)))

    /// A nonce of the number, which expires after some seconds.
    func nonce(_ number: UInt8, seconds: TimeInterval = 60) throws -> Nonce {
        let text = Nonce.issue(
            randomBytes: [UInt8](repeating: number, count: 16), expiresAt: Self.now.addingTimeInterval(seconds),
            thumbprint: .of("certificate 1"), key: Self.nonceKey)
        return try #require(Nonce(issuedHere: text, key: Self.nonceKey))
    }
}
