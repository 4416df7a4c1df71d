import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables device_attestations and attested_apps")
struct AttestationTableTests {
    private static let apple = AttestedApp(apple: AppAttestMint.app)
    private static let android = AttestedApp(package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer)

    private static func appAttest() throws -> DeviceAttestation {
        let key = P256.Signing.PrivateKey().publicKey
        return .appAttest(
            key: try PublicKey(subjectPublicKeyInfo: Array(key.derRepresentation)), app: try #require(apple),
            isProduction: true)
    }

    @Test(
        "An attestation is read as it was written, replaced, and deleted with its device", arguments: StoreKind.shared)
    func attestations(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (apple, app) = (try Self.appAttest(), try #require(Self.android))
            let android = DeviceAttestation.androidKey(
                level: .strongBox, app: app, patchLevel: 202_603, serials: ["1", "abc"])
            let device = DeviceID(UUID())
            try await tables.write { transaction in
                _ = try DeviceRepository(transaction).insert(
                    device, userAgent: nil, presenceKey: nil, at: TestTables.now)
                let records = DeviceAttestationRepository(transaction)
                #expect(try records.find(device) == nil && records.level(of: device) == .unattested)
                for attestation in [apple, android] {
                    try records.set(attestation, of: device)
                    let found = try records.find(device)
                    #expect(found?.attestation == attestation && found?.counter == 0)
                    #expect(found?.attestedAt == TestTables.now)
                    #expect(try records.level(of: device) == attestation.level)
                    #expect(try DeviceRepository(transaction).find(device)?.attestation == attestation.level)
                }
                #expect(try DeviceRepository(transaction).list(.strongBox, limit: 5).map(\.id) == [device])
                #expect(try DeviceRepository(transaction).list(.unattested, limit: 5).map(\.id) == [tables.device])
            }
            try await tables.sql("DELETE FROM devices WHERE id = $1", [.id(device)])
            #expect(try await tables.count("device_attestations") == 0)
        }
    }

    @Test("A counter only rises, and a key of App Attest is of one device", arguments: StoreKind.shared)
    func counters(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let attestation = try Self.appAttest()
            let keyID = try #require(attestation.keyID)
            let other = DeviceID(UUID())
            try await tables.write { transaction in
                _ = try DeviceRepository(transaction).insert(
                    other, userAgent: nil, presenceKey: nil, at: TestTables.now)
                let records = DeviceAttestationRepository(transaction)
                try records.set(attestation, of: tables.device)
                #expect(try records.raiseCounter(to: 2, of: keyID, on: tables.device))
                #expect(try !records.raiseCounter(to: 2, of: keyID, on: tables.device))
                #expect(try !records.raiseCounter(to: 1, of: keyID, on: tables.device))
                #expect(try !records.raiseCounter(to: 9, of: keyID, on: other))
                #expect(try records.find(tables.device)?.counter == 2)
                #expect(throws: Refusal(.invalidCSR, "", reason: .keyInUse)) {
                    try records.set(attestation, of: other)
                }
                try records.remove(of: tables.device)
                try records.set(attestation, of: other)
            }
        }
    }

    @Test("An app is registered for an app of a provider once, listed and removed", arguments: StoreKind.shared)
    func apps(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (apple, android) = (try #require(Self.apple), try #require(Self.android))
            let apps = (0..<2).map {
                Application(id: ApplicationID(UUID()), providerID: tables.provider, name: "\($0)")
            }
            try await tables.write { transaction in
                let records = AttestedAppRepository(transaction)
                for app in apps {
                    try ProviderRepository(transaction).insert(app, at: TestTables.now)
                    #expect(try records.insert(apple, for: app.id) && !records.insert(apple, for: app.id))
                }
                #expect(try records.insert(android, for: apps[0].id))
                #expect(try records.list(of: apps[0].id) == [android, apple])
                #expect(try records.all() == [android, apple])
                #expect(try records.remove(apple, of: apps[0].id) && !records.remove(apple, of: apps[0].id))
                #expect(try records.list(of: apps[0].id) == [android] && records.list(of: apps[1].id) == [apple])
            }
        }
    }
}
