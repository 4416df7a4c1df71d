import Authority
import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// What nothing needs any more goes, and what must not be forgotten stays.
@Suite("Purging certificates and devices")
struct PurgeTests {
    private static let day: TimeInterval = 86_400

    private func counts(_ fixture: ServiceFixture) async throws -> [Int64] {
        try await fixture.store.read { transaction in
            try ["certificates", "devices"].map {
                try transaction.first("SELECT COUNT(*) FROM \($0)")?.integer(0) ?? -1
            }
        }
    }

    private func certified(_ key: P256.Signing.PrivateKey, in fixture: ServiceFixture) async throws -> DeviceCertificate
    {
        let csr = try TestAuthority.certificationRequest(commonName: "x", key: key)
        let request = Service.DeviceRequest(
            csr: csr, presenceKey: nil, enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
        return try await fixture.certify(request).certificate
    }

    @Test("keeps an ended certificate for the policy's time, then deletes it with its device", arguments: StoreKind.all)
    func ended(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            fixture.clock.advance((365 + 30) * Self.day)
            try await fixture.housekeeping()
            #expect(try await counts(fixture) == [1, 1])
            fixture.clock.advance(60)
            try await fixture.housekeeping()
            #expect(try await counts(fixture) == [0, 0])
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.connect(connection.thumbprint)
            }
        }
    }

    @Test(
        "admits what was not shown in time no more, and keeps it until it ran out: it can be revoked",
        arguments: StoreKind.shared)
    func unseen(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            _ = try await fixture.connectNewDevice()
            let revoked = try await fixture.certify(try fixture.request()).certificate
            try await fixture.revokeCertificate.revoke(
                serial: revoked.serial, reason: .keyCompromise)
            let key = P256.Signing.PrivateKey()
            let unseen = try await certified(key, in: fixture)
            fixture.clock.advance(30 * Self.day + 1)
            let fresh = try await fixture.certify(try fixture.request()).certificate
            try await fixture.housekeeping()
            #expect(try await counts(fixture) == [4, 4])
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await fixture.connect(unseen.thumbprint) }
            _ = try await fixture.connect(fresh.thumbprint)
            func listed() async throws -> Set<String> {
                try await fixture.store.read { Set(try CertificateRepository($0).listed(now: $0.now).map(\.serial)) }
            }
            #expect(try await listed() == [revoked.serial])
            // The device may come back with its key, and the old certificate is still to be revoked.
            _ = try await fixture.connect(try await certified(key, in: fixture).thumbprint)
            #expect(
                try await fixture.admin.revokeDevice(unseen.deviceID, reason: .unspecified).serials == [unseen.serial])
            #expect(try await listed() == [revoked.serial, unseen.serial])
            fixture.clock.advance((365 + 31) * Self.day)
            try await fixture.housekeeping()
            #expect(try await counts(fixture) == [0, 0])
        }
    }

    @Test("keeps a device that has another certificate, and refuses a revoked key for ever")
    func revokedKey() async throws {
        try await ServiceFixture.run { fixture in
            let lost = P256.Signing.PrivateKey()
            let kept = P256.Signing.PrivateKey()
            let first = try await certified(lost, in: fixture)
            let second = try await certified(kept, in: fixture)
            let connection = try await fixture.connect(second.thumbprint)
            try await fixture.revokeCertificate.revoke(
                serial: first.serial, reason: .keyCompromise)
            fixture.clock.advance(second.renewAfter.timeIntervalSince(fixture.clock.now))
            let renewed = try await fixture.context.renewCertificate(csr: nil, on: connection).certificate
            _ = try await fixture.connect(renewed.thumbprint)
            fixture.clock.advance(200 * Self.day)
            try await fixture.housekeeping()
            #expect(try await counts(fixture) == [1, 1])
            await #expect(throws: Refusal(.invalidCSR, "", reason: .keyRevoked)) {
                try await certified(lost, in: fixture)
            }
            await #expect(throws: Refusal(.invalidCSR, "", reason: .keyInUse)) {
                try await certified(kept, in: fixture)
            }
        }
    }

    @Test("takes more than a batch in one round")
    func many() async throws {
        try await ServiceFixture.run { fixture in
            try await RevocationListTests.revoke(700, in: fixture.store)
            fixture.clock.advance(32 * Self.day)
            try await fixture.housekeeping()
            #expect(try await counts(fixture) == [0, 0])
            #expect(try await fixture.store.read { try CertificateUpkeep($0).revokedKeys().count } == 700)
        }
    }
}
