import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Texts to attested devices only")
struct AttestedTextTests {
    private static let number = "+14155552671"

    private static func run(
        attestedOnly: Bool, on kind: StoreKind = .usual,
        _ body: (PhoneBench, _ attested: PhoneBench.Person, _ plain: PhoneBench.Person) async throws -> Void
    ) async throws {
        var policy = Policy()
        policy.phones.attestedOnly = attestedOnly
        policy.phones.resendAfter = [0, 0]
        try await ServiceFixture.run(policy, on: kind) { fixture in
            let devices = try await AttestationBench(fixture)
            let phones = try PhoneBench(fixture)
            let certificate = try await devices.certify(devices.androidRequest()).certificate
            let connection = try await fixture.connect(certificate.thumbprint)
            let attested = try await phones.person("alice", on: connection)
            try await body(phones, attested, try await phones.person("bob"))
        }
    }

    @Test("are refused to every other device, which learns what to do", arguments: StoreKind.shared)
    func start(kind: StoreKind) async throws {
        try await Self.run(attestedOnly: true, on: kind) { phones, attested, plain in
            let refusal = await #expect(throws: Refusal.self) { try await phones.begin(Self.number, plain) }
            #expect(refusal?.code == .conflict && refusal?.state == "unattested")
            let started = try await phones.begin(Self.number, attested)
            #expect(started.decision?.isSent == true)
            _ = try await phones.deliver()
            #expect(phones.texts.sent.map(\.to) == [Self.number])
        }
    }

    @Test("are not sent again after the device lost its level")
    func resend() async throws {
        try await Self.run(attestedOnly: true) { phones, attested, _ in
            let id = try await phones.begin(Self.number, attested).id.description
            func resend() async throws {
                _ = try await phones.context.resendPhoneCode(id, for: attested.session, address: "192.0.2.1")
            }
            try await resend()
            try await phones.fixture.store.write {
                try AttestationRepository($0).distrust(attested.session.deviceID)
            }
            await #expect(throws: Refusal.attestedOnly) { try await resend() }
        }
    }

    @Test("are refused on a certificate without a mark, although its renewal has one and was never used")
    func unusedRenewal() async throws {
        var policy = Policy()
        policy.phones.attestedOnly = true
        policy.certification.validity = 86_400
        try await ServiceFixture.run(policy) { fixture in
            let (devices, phones) = (try await AttestationBench(fixture), try PhoneBench(fixture))
            let certificate = try await fixture.certify(try fixture.request()).certificate
            let connection = try await fixture.connectForRenewal(certificate)
            let plain = try await phones.person("alice", on: connection)
            let request = try devices.appleRequest()
            let renewed = try await devices.service.renewCertificate(
                csr: request.csr, evidence: request.attestation, on: connection
            ).certificate
            #expect(renewed.attestation == .appAttest)
            let refusal = await #expect(throws: Refusal.self) { try await phones.begin(Self.number, plain) }
            #expect(refusal?.state == "unattested")
            let attested = try await phones.person("bob", on: try await fixture.connect(renewed.thumbprint))
            #expect(try await phones.begin(Self.number, attested).decision?.isSent == true)
        }
    }

    @Test("are a choice of policy: without it every device gets texts")
    func everyDevice() async throws {
        try await Self.run(attestedOnly: false) { phones, _, plain in
            let started = try await phones.begin(Self.number, plain)
            #expect(started.decision?.isSent == true)
        }
    }
}

extension SendGuard.Decision {
    fileprivate var isSent: Bool { if case .send = self { true } else { false } }
}
