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

    private func counts(_ house: House) async throws -> [Int64] {
        try await house.store.read { transaction in
            try ["certificates", "devices"].map {
                try transaction.first("SELECT COUNT(*) FROM \($0)")?.integer(0) ?? -1
            }
        }
    }

    private func certified(_ key: P256.Signing.PrivateKey, in house: House) async throws -> DeviceCertificate {
        let csr = try TestAuthority.certificationRequest(commonName: "x", key: key)
        let request = CertifyDevice.Request(
            csr: csr, presenceKey: nil, enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
        return try await house.certify(request).certificate
    }

    @Test("keeps an ended certificate for the policy's time, then deletes it with its device", arguments: StoreKind.all)
    func ended(kind: StoreKind) async throws {
        try await House.inhabit(on: kind) { house in
            let connection = try await house.connectNewDevice()
            house.clock.advance((365 + 30) * Self.day)
            try await house.keepHouse()
            #expect(try await counts(house) == [1, 1])
            house.clock.advance(1)
            try await house.keepHouse()
            #expect(try await counts(house) == [0, 0])
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await house.connect(connection.thumbprint)
            }
        }
    }

    @Test("deletes what was never shown, but keeps what is shown or revoked until it ran out")
    func unseen() async throws {
        try await House.inhabit { house in
            _ = try await house.connectNewDevice()
            let revoked = try await house.certify(try house.request()).certificate
            try await house.revokeCertificate.revoke(
                serial: revoked.serial, reason: .keyCompromise, actor: "admin test")
            let unseen = try await house.certify(try house.request()).certificate
            house.clock.advance(30 * Self.day + 1)
            let fresh = try await house.certify(try house.request()).certificate
            try await house.keepHouse()
            #expect(try await counts(house) == [3, 3])
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await house.connect(unseen.thumbprint) }
            _ = try await house.connect(fresh.thumbprint)
            #expect(try await house.store.read { try CertificateRecords($0).listed(now: $0.now).count } == 1)
        }
    }

    @Test("keeps a device that has another certificate, and refuses a revoked key for ever")
    func revokedKey() async throws {
        try await House.inhabit { house in
            let lost = P256.Signing.PrivateKey()
            let kept = P256.Signing.PrivateKey()
            let first = try await certified(lost, in: house)
            let second = try await certified(kept, in: house)
            let connection = try await house.connect(second.thumbprint)
            try await house.revokeCertificate.revoke(serial: first.serial, reason: .keyCompromise, actor: "admin test")
            house.clock.advance(second.renewAfter.timeIntervalSince(house.clock.now))
            let renewed = try await house.renewCertificate(csr: nil, on: connection).certificate
            _ = try await house.connect(renewed.thumbprint)
            house.clock.advance(200 * Self.day)
            try await house.keepHouse()
            #expect(try await counts(house) == [1, 1])
            await #expect(throws: Refusal(.invalidCSR, "", reason: "key_revoked")) {
                try await certified(lost, in: house)
            }
            await #expect(throws: Refusal(.invalidCSR, "", reason: "key_in_use")) {
                try await certified(kept, in: house)
            }
        }
    }

    @Test("takes more than a batch in one round")
    func many() async throws {
        try await House.inhabit { house in
            try await RevocationListTests.revoke(700, in: house.store)
            house.clock.advance(32 * Self.day)
            try await house.keepHouse()
            #expect(try await counts(house) == [0, 0])
            #expect(try await house.store.read { try CertificateUpkeep($0).revokedKeys().count } == 700)
        }
    }
}
