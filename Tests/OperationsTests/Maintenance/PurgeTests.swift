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
        let request = CertifyDevice.Request(
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

    @Test("deletes what was never shown, but keeps what is shown or revoked until it ran out")
    func unseen() async throws {
        try await ServiceFixture.run { fixture in
            _ = try await fixture.connectNewDevice()
            let revoked = try await fixture.certify(try fixture.request()).certificate
            try await fixture.revokeCertificate.revoke(
                serial: revoked.serial, reason: .keyCompromise)
            let unseen = try await fixture.certify(try fixture.request()).certificate
            fixture.clock.advance(30 * Self.day + 1)
            let fresh = try await fixture.certify(try fixture.request()).certificate
            try await fixture.housekeeping()
            #expect(try await counts(fixture) == [3, 3])
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await fixture.connect(unseen.thumbprint) }
            _ = try await fixture.connect(fresh.thumbprint)
            #expect(try await fixture.store.read { try CertificateRepository($0).listed(now: $0.now).count } == 1)
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
            let renewed = try await fixture.renewCertificate(csr: nil, on: connection).certificate
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
