import Authority
import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Operations

/// An answer that is lost on the way: the device asks again with the same request.
@Suite("The same certification request again")
struct RepeatedRequestTests {
    private static func inUse(_ reason: Refusal.Reason = .keyInUse) -> Refusal {
        Refusal(.invalidCSR, "", reason: reason)
    }

    @Test("within ten minutes gives the same certificate, on every node", arguments: StoreKind.shared)
    func repeated(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let request = try fixture.request()
            let first = try await fixture.certify(request)
            #expect(!first.isRepeated)
            fixture.clock.advance(599)
            for node in [fixture, try await fixture.moved()] {
                let again = try await node.certify(request)
                #expect(again.isRepeated)
                #expect(again.certificate.serial == first.certificate.serial)
                #expect(again.certificatePEM == first.certificatePEM)
            }
            _ = try await fixture.connect(first.certificate.thumbprint)
            #expect(try await fixture.certify(request).isRepeated)
            fixture.clock.advance(1)
            await #expect(throws: Self.inUse()) { try await fixture.certify(request) }
        }
    }

    @Test("by many at once gives all of them one certificate", arguments: StoreKind.all)
    func atOnce(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let request = try fixture.request()
            let serials = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<12 { group.addTask { try await fixture.certify(request).certificate.serial } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(serials.count == 1)
            let issued = try await fixture.store.read { try $0.first("SELECT COUNT(*) FROM certificates")?.integer(0) }
            #expect(issued == 1)
        }
    }

    @Test("needs no second enrolment token and no second captcha; the ceiling does not count it")
    func gates() async throws {
        for gate in [CertificationPolicy.Gate.provider, .captcha, .open] {
            var policy = Policy()
            policy.certification.gate = gate
            policy.certification.openPerHour = 1
            try await ServiceFixture.run(policy) { fixture in
                let token = try fixture.signer.enrolmentToken(
                    provider: fixture.registration.provider.id, kid: fixture.registration.keyID,
                    realm: ServiceFixture.realm,
                    identifier: "once", now: fixture.clock.now)
                let request = try fixture.request(enrolmentToken: token, captcha: "solved")
                let serial = try await fixture.certify(request).certificate.serial
                let spent = Service.DeviceRequest(
                    csr: request.csr, presenceKey: nil, enrolmentToken: gate == .provider ? token : nil,
                    captcha: nil, address: request.address)
                for again in [request, spent] {
                    #expect(try await fixture.certify(again).certificate.serial == serial, "\(gate)")
                }
            }
        }
    }

    @Test("after a revocation or a ban of the device gives nothing")
    func revoked() async throws {
        try await ServiceFixture.run { fixture in
            let request = try fixture.request()
            let certificate = try await fixture.certify(request).certificate
            try await fixture.revokeCertificate.revoke(
                serial: certificate.serial, reason: .keyCompromise)
            await #expect(throws: Self.inUse(.keyRevoked)) { try await fixture.certify(request) }
            let other = try fixture.request()
            let banned = try await fixture.certify(other).certificate
            try await BanBench(fixture).ban(.device(banned.deviceID))
            await #expect(throws: Self.inUse(.keyRevoked)) { try await fixture.certify(other) }
        }
    }

    @Test("with another presence key, or another request by the same key, is not the same request")
    func different() async throws {
        try await ServiceFixture.run { fixture in
            let key = P256.Signing.PrivateKey()
            let csr = try TestAuthority.certificationRequest(commonName: "x", key: key)
            func send(_ csr: String, presenceKey: String?) async throws -> CertifiedDevice {
                let request = Service.DeviceRequest(
                    csr: csr, presenceKey: presenceKey, enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
                return try await fixture.certify(request)
            }
            let mine = P256.Signing.PrivateKey().publicKey.pemRepresentation
            let foreign = P256.Signing.PrivateKey().publicKey.pemRepresentation
            let first = try await send(csr, presenceKey: mine)
            #expect(try await send(csr, presenceKey: mine).certificate == first.certificate)
            // Whoever has seen the request cannot put a presence key of their own in the place of the device's.
            for other in [foreign, nil] {
                await #expect(throws: Self.inUse()) { try await send(csr, presenceKey: other) }
            }
            await #expect(throws: Self.inUse()) { try await send(csr + "\n", presenceKey: mine) }
        }
    }

    @Test("counts as an attempt of its address")
    func counted() async throws {
        var policy = Policy()
        policy.certification.perHourPerSender.perAddress = 2
        try await ServiceFixture.run(policy) { fixture in
            let request = try fixture.request()
            _ = try await fixture.certify(request)
            _ = try await fixture.certify(request)
            await #expect(throws: Refusal(.rateLimited, "")) { try await fixture.certify(request) }
        }
    }

    @Test("is forgotten by housekeeping once nobody may repeat it")
    func forgotten() async throws {
        try await ServiceFixture.run { fixture in
            _ = try await fixture.certify(try fixture.request())
            func count() async throws -> Int64? {
                try await fixture.store.read { try $0.first("SELECT COUNT(*) FROM recent_certifications")?.integer(0) }
            }
            try await fixture.housekeeping()
            #expect(try await count() == 1)
            fixture.clock.advance(600)
            try await fixture.housekeeping()
            #expect(try await count() == 0)
        }
    }
}
