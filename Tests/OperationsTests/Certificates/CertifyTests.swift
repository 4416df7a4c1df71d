import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Certifying a device")
struct CertifyTests {
    private static let gate = Refusal(.invalidCSR, "", reason: .gate)

    @Test("is limited to thirty an hour for one address")
    func rate() async throws {
        try await ServiceFixture.run { fixture in
            for _ in 0..<30 { _ = try await fixture.certify(try fixture.request()) }
            await #expect(throws: Refusal(.rateLimited, "")) { try await fixture.certify(try fixture.request()) }
            fixture.clock.advance(120)
            _ = try await fixture.certify(try fixture.request())
        }
    }

    @Test("keeps of a presence key the key alone, whatever stands around it")
    func presenceKey() async throws {
        try await ServiceFixture.run { fixture in
            let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
            for text in ["a note\u{0}\n\(pem)", "\(pem)\n\u{0}", pem] {
                let device = try await fixture.certify(
                    Service.DeviceRequest(
                        csr: try TestAuthority.certificationRequest(commonName: ""), presenceKey: text,
                        enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
                ).certificate.deviceID
                let kept = try await fixture.store.read { try DeviceRepository($0).presenceKey(of: device) }
                #expect(kept?.split(separator: "\n") == pem.split(separator: "\n"))
            }
        }
    }

    @Test("gives each of many that wish for one id at the same moment an id, one of them the wished one")
    func sameWish() async throws {
        try await ServiceFixture.run { fixture in
            let wished = UUID().uuidString.lowercased()
            let requests = try (0..<16).map { try fixture.request(wishing: wished, address: "192.0.2.\($0)") }
            let names = try await withThrowingTaskGroup(of: String.self) { group in
                for request in requests {
                    group.addTask { try await fixture.certify(request).certificate.deviceID.description }
                }
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(Set(names).count == 16)
            #expect(names.count { $0 == wished } == 1)
            let issued = try await fixture.store.read {
                try $0.first("SELECT count(*) FROM certificates")?.integer(0)
            }
            #expect(issued == 16)
        }
    }

    @Test("keeps no address in clear, and counts each all the same")
    func addresses() async throws {
        var policy = Policy()
        policy.certification.perHourPerSender.perAddress = 2
        try await ServiceFixture.run(policy) { fixture in
            for address in ["192.0.2.1", "192.0.2.2"] {
                for _ in 0..<2 { _ = try await fixture.certify(try fixture.request(address: address)) }
                await #expect(throws: Refusal(.rateLimited, "")) {
                    try await fixture.certify(try fixture.request(address: address))
                }
            }
            let keys = try await fixture.store.read {
                try $0.query("SELECT key FROM rates WHERE key <> 'certify open'").map { try $0.text(0) }
            }
            #expect(keys.count == 2)
            #expect(keys.allSatisfy { !$0.contains("192") && $0.hasPrefix("certify ") && $0.utf8.count == 30 })
        }
    }

    /// The limit's key of an IPv6 network of /64.
    private static func network(_ bytes: Int...) -> String {
        ([0x20, 0x01, 0x0D, 0xB8] + bytes).map(String.init).joined(separator: ".") + "/64"
    }

    @Test("is limited to sixty an hour for a /56 of IPv6 and to 240 for a /48, however many /64 ask")
    func networks() async throws {
        try await ServiceFixture.run { fixture in
            func certify(_ address: String) async throws {
                _ = try await fixture.certify(try fixture.request(address: address))
            }
            for index in 0..<60 { try await certify(Self.network(0, 1, 0, index)) }
            await #expect(throws: Refusal(.rateLimited, "")) { try await certify(Self.network(0, 1, 0, 99)) }
            // The next /56 of the same /48 has its own, until the /48 is full.
            for index in 0..<180 { try await certify(Self.network(0, 1, 1 + index % 4, index)) }
            await #expect(throws: Refusal(.rateLimited, "")) { try await certify(Self.network(0, 1, 9, 0)) }
            try await certify(Self.network(0, 2, 9, 0))
            try await certify("192.0.2.1")
        }
    }

    @Test("behind an open gate has a ceiling for all together, which what is refused does not fill")
    func ceiling() async throws {
        var policy = Policy()
        policy.certification.openPerHour = 3
        try await ServiceFixture.run(policy) { fixture in
            for index in 0..<20 {
                await #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
                    try await fixture.certify(
                        Service.DeviceRequest(
                            csr: "nonsense", presenceKey: nil, enrolmentToken: nil, captcha: nil,
                            address: "192.0.2.\(index)"))
                }
            }
            for index in 0..<3 { _ = try await fixture.certify(try fixture.request(address: "198.51.100.\(index)")) }
            await #expect(throws: Refusal(.rateLimited, "")) {
                try await fixture.certify(try fixture.request(address: "203.0.113.1"))
            }
            fixture.clock.advance(1200)
            _ = try await fixture.certify(try fixture.request(address: "203.0.113.2"))
        }
        policy.certification.gate = .captcha
        try await ServiceFixture.run(policy) { fixture in
            for _ in 0..<5 { _ = try await fixture.certify(try fixture.request(captcha: "solved")) }
        }
    }

    @Test("behind the provider's gate takes an enrolment token, once")
    func providerGate() async throws {
        var policy = Policy()
        policy.certification.gate = .provider
        try await ServiceFixture.run(policy) { fixture in
            await #expect(throws: Self.gate) { try await fixture.certify(try fixture.request()) }
            let token = try fixture.signer.enrolmentToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID,
                realm: ServiceFixture.realm,
                identifier: "once", now: fixture.clock.now)
            _ = try await fixture.certify(try fixture.request(enrolmentToken: token))
            await #expect(throws: Self.gate) { try await fixture.certify(try fixture.request(enrolmentToken: token)) }
            let reusable = try fixture.signer.providerToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID,
                realm: ServiceFixture.realm,
                now: fixture.clock.now)
            await #expect(throws: Self.gate) {
                try await fixture.certify(try fixture.request(enrolmentToken: reusable))
            }
        }
    }

    @Test("behind the captcha's gate takes a solved one")
    func captchaGate() async throws {
        var policy = Policy()
        policy.certification.gate = .captcha
        try await ServiceFixture.run(policy) { fixture in
            await #expect(throws: Self.gate) { try await fixture.certify(try fixture.request()) }
            await #expect(throws: Self.gate) { try await fixture.certify(try fixture.request(captcha: "wrong")) }
            _ = try await fixture.certify(try fixture.request(captcha: "solved"))
        }
    }
}
