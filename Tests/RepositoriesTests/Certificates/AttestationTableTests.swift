import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables device_attestations, attested_apps and attestation_lists")
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
                let records = AttestationRepository(transaction)
                #expect(try records.find(device) == nil)
                for attestation in [apple, android] {
                    try records.set(attestation, of: device)
                    let found = try records.find(device)
                    #expect(found?.attestation == attestation && found?.counter == 0)
                    #expect(found?.attestedAt == TestTables.now)
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
                let records = AttestationRepository(transaction)
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
                let records = AttestationRepository(transaction)
                for app in apps {
                    try ProviderRepository(transaction).insert(app, at: TestTables.now)
                    #expect(try records.add(apple, for: app.id) && !records.add(apple, for: app.id))
                }
                #expect(try records.add(android, for: apps[0].id))
                #expect(try records.apps(of: apps[0].id) == [android, apple])
                #expect(try records.apps() == [android, apple])
                #expect(try records.remove(apple, of: apps[0].id) && !records.remove(apple, of: apps[0].id))
                #expect(try records.apps(of: apps[0].id) == [android] && records.apps(of: apps[1].id) == [apple])
            }
        }
    }

    @Test("Chains are compared once with each list, and a distrusted device never again", arguments: StoreKind.shared)
    func unchecked(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let app = try #require(Self.android)
            let other = try await tables.newDevice()
            try await tables.sql("UPDATE certificates SET attestation = 'android_tee' WHERE serial = '1'")
            try await tables.write { transaction in
                let records = AttestationRepository(transaction)
                // The mark of a certificate means nothing without the device's attestation.
                #expect(try !records.isAttested(.of("certificate 1")))
                for (device, serial) in [(tables.device, "1"), (other, "2")] {
                    try records.set(
                        .androidKey(level: .tee, app: app, patchLevel: 0, serials: [serial, "abc"]), of: device)
                }
                let due = try records.listUnchecked(since: TestTables.now, limit: 5)
                #expect(Set(due.map(\.device)) == [tables.device, other])
                #expect(due.first { $0.device == other }?.serials == ["2", "abc"])
                #expect(try records.isAttested(.of("certificate 1")) && !records.isAttested(.of("certificate 2")))
                try records.setChecked(other, withListOf: TestTables.now)
                try records.distrust(tables.device)
                #expect(try !records.isAttested(.of("certificate 1")))
            }
            let (now, later, mark) = try await tables.read { transaction in
                let records = AttestationRepository(transaction)
                return (
                    try records.listUnchecked(since: TestTables.now, limit: 5).map(\.device),
                    try records.listUnchecked(since: TestTables.now.addingTimeInterval(1), limit: 5).map(\.device),
                    try CertificateRepository(transaction).find(serial: "1")?.attestation
                )
            }
            #expect(now.isEmpty && later == [other] && mark == .unattested)
        }
    }

    @Test("A fetch of the list is claimed once, and its content is kept as it came", arguments: StoreKind.shared)
    func list(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                let records = AttestationRepository(transaction)
                #expect(try records.listTimes() == nil && records.list().isEmpty && records.fetchFailure() == nil)
                #expect(try records.claimFetch() && !records.claimFetch())
                #expect(try records.listTimes() == nil)
                try records.failFetch("HTTP 500")
                #expect(try records.fetchFailure() == "HTTP 500" && records.listTimes() == nil)
                try records.storeList([7])
                let times = try #require(try records.listTimes())
                #expect(times.changedAt == TestTables.now && times.readAt == TestTables.now && times.failure == nil)
                #expect(try records.list() == [7])
                // In the same millisecond, as after a clock was set back: the new content is still a later list.
                try records.storeList([8])
                let next = try #require(try records.listTimes())
                #expect(next.changedAt > times.changedAt && next.readAt == times.readAt)
                try records.storeList([8])
                #expect(try records.listTimes()?.changedAt == next.changedAt)
            }
        }
    }
}
