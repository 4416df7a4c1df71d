import Fixtures
import Foundation
import Identity
import Operations
import Testing

@Suite("Certifying a device")
struct CertifyTests {
    private static let gate = Refusal(.invalidCSR, "", reason: "gate")

    @Test("is limited to thirty an hour for one address")
    func rate() async throws {
        try await House.inhabit { house in
            for _ in 0..<30 { _ = try await house.certify(try house.request()) }
            await #expect(throws: Refusal(.rateLimited, "")) { try await house.certify(try house.request()) }
            house.clock.advance(120)
            _ = try await house.certify(try house.request())
        }
    }

    @Test("behind the provider's gate takes an enrolment token, once")
    func providerGate() async throws {
        var policy = Policy()
        policy.certification.gate = .provider
        try await House.inhabit(policy) { house in
            await #expect(throws: Self.gate) { try await house.certify(try house.request()) }
            let token = try house.signer.enrolmentToken(
                provider: house.registration.provider.id, kid: house.registration.keyID, realm: House.realm,
                identifier: "once", now: house.clock.now)
            _ = try await house.certify(try house.request(enrolmentToken: token))
            await #expect(throws: Self.gate) { try await house.certify(try house.request(enrolmentToken: token)) }
            let reusable = try house.signer.providerToken(
                provider: house.registration.provider.id, kid: house.registration.keyID, realm: House.realm,
                now: house.clock.now)
            await #expect(throws: Self.gate) { try await house.certify(try house.request(enrolmentToken: reusable)) }
        }
    }

    @Test("behind the captcha's gate takes a solved one")
    func captchaGate() async throws {
        var policy = Policy()
        policy.certification.gate = .captcha
        try await House.inhabit(policy) { house in
            await #expect(throws: Self.gate) { try await house.certify(try house.request()) }
            await #expect(throws: Self.gate) { try await house.certify(try house.request(captcha: "wrong")) }
            _ = try await house.certify(try house.request(captcha: "solved"))
        }
    }
}
