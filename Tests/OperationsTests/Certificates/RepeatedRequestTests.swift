import Authority
import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Testing

/// An answer that is lost on the way: the device asks again with the same request.
@Suite("The same certification request again")
struct RepeatedRequestTests {
    private static func inUse(_ reason: String = "key_in_use") -> Refusal { Refusal(.invalidCSR, "", reason: reason) }

    @Test("within ten minutes gives the same certificate, on every node", arguments: StoreKind.shared)
    func repeated(kind: StoreKind) async throws {
        try await House.inhabit(on: kind) { house in
            let request = try house.request()
            let first = try await house.certify(request)
            #expect(!first.isRepeated)
            house.clock.advance(599)
            for node in [house, try await house.moved()] {
                let again = try await node.certify(request)
                #expect(again.isRepeated)
                #expect(again.certificate.serial == first.certificate.serial)
                #expect(again.certificatePEM == first.certificatePEM)
            }
            _ = try await house.connect(first.certificate.thumbprint)
            #expect(try await house.certify(request).isRepeated)
            house.clock.advance(1)
            await #expect(throws: Self.inUse()) { try await house.certify(request) }
        }
    }

    @Test("by many at once gives all of them one certificate", arguments: StoreKind.all)
    func atOnce(kind: StoreKind) async throws {
        try await House.inhabit(on: kind) { house in
            let request = try house.request()
            let serials = try await withThrowingTaskGroup(of: String.self) { [certify = house.certify] group in
                for _ in 0..<12 { group.addTask { try await certify(request).certificate.serial } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(serials.count == 1)
            let issued = try await house.store.read { try $0.first("SELECT COUNT(*) FROM certificates")?.integer(0) }
            #expect(issued == 1)
        }
    }

    @Test("needs no second enrolment token and no second captcha; the ceiling does not count it")
    func gates() async throws {
        for gate in [CertificationPolicy.Gate.provider, .captcha, .open] {
            var policy = Policy()
            policy.certification.gate = gate
            policy.certification.openPerHour = 1
            try await House.inhabit(policy) { house in
                let token = try house.signer.enrolmentToken(
                    provider: house.registration.provider.id, kid: house.registration.keyID, realm: House.realm,
                    identifier: "once", now: house.clock.now)
                let request = try house.request(enrolmentToken: token, captcha: "solved")
                let serial = try await house.certify(request).certificate.serial
                let spent = CertifyDevice.Request(
                    csr: request.csr, presenceKey: nil, enrolmentToken: gate == .provider ? token : nil,
                    captcha: nil, address: request.address)
                for again in [request, spent] {
                    #expect(try await house.certify(again).certificate.serial == serial, "\(gate)")
                }
            }
        }
    }

    @Test("after a revocation or a ban of the device gives nothing")
    func revoked() async throws {
        try await House.inhabit { house in
            let request = try house.request()
            let certificate = try await house.certify(request).certificate
            try await house.revokeCertificate.revoke(
                serial: certificate.serial, reason: .keyCompromise, actor: "admin test")
            await #expect(throws: Self.inUse("key_revoked")) { try await house.certify(request) }
            let other = try house.request()
            let banned = try await house.certify(other).certificate
            try await BanBench(house).ban(.device(banned.deviceID))
            await #expect(throws: Self.inUse("key_revoked")) { try await house.certify(other) }
        }
    }

    @Test("with another presence key, or another request by the same key, is not the same request")
    func different() async throws {
        try await House.inhabit { house in
            let key = P256.Signing.PrivateKey()
            let csr = try TestAuthority.certificationRequest(commonName: "x", key: key)
            func send(_ csr: String, presenceKey: String?) async throws -> CertifiedDevice {
                let request = CertifyDevice.Request(
                    csr: csr, presenceKey: presenceKey, enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
                return try await house.certify(request)
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
        policy.certification.perHourPerAddress = 2
        try await House.inhabit(policy) { house in
            let request = try house.request()
            _ = try await house.certify(request)
            _ = try await house.certify(request)
            await #expect(throws: Refusal(.rateLimited, "")) { try await house.certify(request) }
        }
    }

    @Test("is forgotten by housekeeping once nobody may repeat it")
    func forgotten() async throws {
        try await House.inhabit { house in
            _ = try await house.certify(try house.request())
            func count() async throws -> Int64? {
                try await house.store.read { try $0.first("SELECT COUNT(*) FROM recent_certifications")?.integer(0) }
            }
            try await house.keepHouse()
            #expect(try await count() == 1)
            house.clock.advance(600)
            try await house.keepHouse()
            #expect(try await count() == 0)
        }
    }
}
