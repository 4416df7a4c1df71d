import Authority
import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("A device whose maker attests its key")
struct AttestedCertificationTests {
    private static func refusal(_ reason: Refusal.Reason = .gate) -> Refusal {
        Refusal(.invalidCSR, "", reason: reason)
    }

    private static func policy(_ change: (inout CertificationPolicy.AttestationRules) -> Void = { _ in }) -> Policy {
        var policy = Policy()
        policy.certification.gate = .attested
        change(&policy.certification.attestation)
        return policy
    }

    @Test("gets a certificate with the level, which session, introspection and row report", arguments: StoreKind.shared)
    func accepted(kind: StoreKind) async throws {
        try await ServiceFixture.run(Self.policy(), on: kind) { fixture in
            let bench = try await AttestationBench(fixture)
            let android = try await bench.certify(bench.androidRequest())
            let apple = try await bench.certify(bench.appleRequest())
            for (certified, level) in [(android, DeviceAttestation.Level.tee), (apple, .appAttest)] {
                #expect(certified.certificate.attestation == level)
                let connection = try await fixture.connect(certified.certificate.thumbprint)
                #expect(connection.attestation == level)
                let opened = try await fixture.opened(level.rawValue, on: connection)
                let token = try #require(opened.token).text.reveal()
                let backend = try await fixture.backend()
                let found = try #require(try await fixture.context.introspect(token, for: backend))
                #expect(found.attestation == level)
                let hash = try #require(SessionToken(shown: token)).hash
                #expect(fixture.context.introspectFromMemory(hash, for: backend.id)?.attestation == level)
                let summary = try await fixture.admin.readDevice(certified.certificate.deviceID).summary
                #expect(summary.attestation == level)
                let listed = try await fixture.admin.listDevices(limit: 10, attestation: level)
                #expect(listed.map(\.id) == [certified.certificate.deviceID])
            }
            #expect(try await fixture.admin.listDevices(limit: 10, attestation: .unattested).isEmpty)
            let stored = try await fixture.store.read {
                try AttestationRepository($0).find(apple.certificate.deviceID)
            }
            #expect(stored?.attestation.keyID == bench.apple.keyID)
            #expect(stored?.counter == 0 && stored?.attestedAt == fixture.clock.now)
        }
    }

    @Test("spends its challenge once, on any of several nodes", arguments: StoreKind.shared)
    func replay(kind: StoreKind) async throws {
        try await ServiceFixture.run(Self.policy(), on: kind, nodes: 2) { fixture, contexts in
            let bench = try await AttestationBench(fixture)
            var nodes: [Service] = []
            for context in contexts {
                let node = fixture.context(
                    store: context.store, node: ServingNode(caches: Caches(store: context.store)),
                    attestation: bench.verifier)
                try await node.invalidator.poll()
                nodes.append(node)
            }
            let challenge = nodes[0].issueAttestationChallenge().challenge
            // Two requests with different keys and one challenge.
            let requests = [try bench.appleRequest(challenge), try bench.androidRequest(challenge)]
            let results = await withTaskGroup(of: Result<DeviceAttestation.Level, any Error>.self) { group in
                for (node, request) in zip(nodes, requests) {
                    group.addTask {
                        do {
                            return .success(
                                try await node.certifyDevice(request) { _ in false }.certificate.attestation)
                        } catch { return .failure(error) }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { (try? $0.get()) != nil } == 1)
            for case .failure(let error) in results { #expect(error as? Refusal == Self.refusal()) }
            await #expect(throws: Self.refusal()) {
                try await nodes[1].certifyDevice(try bench.appleRequest(challenge)) { _ in false }
            }
        }
    }

    @Test("may repeat its request, and gets the same certificate")
    func repeated() async throws {
        try await ServiceFixture.run(Self.policy()) { fixture in
            let bench = try await AttestationBench(fixture)
            let request = try bench.androidRequest()
            let first = try await bench.certify(request)
            #expect(try await bench.certify(request).certificate == first.certificate)
        }
    }

    @Test("needs a challenge of this service, made for attestations, within ten minutes")
    func challenges() async throws {
        try await ServiceFixture.run(Self.policy()) { fixture in
            let bench = try await AttestationBench(fixture)
            await #expect(throws: Self.refusal()) { try await bench.certify(try bench.appleRequest("challenge")) }
            let (challenge, expiresAt) = bench.service.issueAttestationChallenge()
            #expect(expiresAt == fixture.clock.now + 600)
            let request = try bench.appleRequest(challenge)
            fixture.clock.advance(600)
            await #expect(throws: Self.refusal()) { try await bench.certify(request) }
            // A nonce for signing in is none, and no device signs in with a challenge.
            let connection = try await fixture.connect(
                try await bench.certify(bench.androidRequest()).certificate.thumbprint)
            let nonce = fixture.context.issueNonce(connection).nonce
            await #expect(throws: Self.refusal()) { try await bench.certify(try bench.appleRequest(nonce)) }
        }
    }

    @Test("is refused for another key, an app that is not registered, and a kind or level that is not accepted")
    func refused() async throws {
        try await ServiceFixture.run(Self.policy { $0.kinds = [.androidKey] }) { fixture in
            let bench = try await AttestationBench(fixture)
            await #expect(throws: Self.refusal()) { try await bench.certify(try bench.appleRequest()) }
            _ = try await bench.certify(bench.androidRequest())
        }
        try await ServiceFixture.run(Self.policy { $0.androidLevels = [.strongbox] }) { fixture in
            let bench = try await AttestationBench(fixture)
            await #expect(throws: Self.refusal()) { try await bench.certify(try bench.androidRequest()) }
            let challenge = bench.service.issueAttestationChallenge().challenge
            let other = try TestAuthority.certificationRequest(commonName: UUID().uuidString)
            await #expect(throws: Self.refusal()) {
                try await bench.certify(bench.appleRequest(challenge, csr: other))
            }
            for app in bench.apps { try await fixture.admin.removeAttestedApp(app, of: bench.app) }
            await #expect(throws: Self.refusal()) { try await bench.certify(try bench.appleRequest()) }
        }
    }

    @Test("has a key of App Attest for itself alone")
    func keyInUse() async throws {
        try await ServiceFixture.run(Self.policy()) { fixture in
            let bench = try await AttestationBench(fixture)
            _ = try await bench.certify(bench.appleRequest())
            await #expect(throws: Self.refusal(.keyInUse)) { try await bench.certify(try bench.appleRequest()) }
        }
    }

    @Test("may fall back to a captcha, and is marked as not attested")
    func fallback() async throws {
        try await ServiceFixture.run(Self.policy()) { fixture in
            await #expect(throws: Self.refusal()) { try await fixture.certify(try fixture.request(captcha: "solved")) }
        }
        try await ServiceFixture.run(Self.policy { $0.fallback = .captcha }) { fixture in
            let certified = try await fixture.certify(try fixture.request(captcha: "solved"))
            #expect(certified.certificate.attestation == .unattested)
            await #expect(throws: Self.refusal()) { try await fixture.certify(try fixture.request(captcha: "no")) }
            // A bad attestation is not made good by a captcha.
            let bench = try await AttestationBench(fixture)
            let request = try bench.appleRequest("challenge", captcha: "solved")
            await #expect(throws: Self.refusal()) { try await bench.certify(request) }
        }
        try await ServiceFixture.run(Self.policy { $0.fallback = .provider }) { fixture in
            await #expect(throws: Self.refusal()) { try await fixture.certify(try fixture.request(captcha: "solved")) }
        }
    }

    @Test("renews with an assertion of a higher counter, once, and not with a new key alone")
    func renewal() async throws {
        try await ServiceFixture.run(Self.policy()) { fixture in
            let bench = try await AttestationBench(fixture)
            let certificate = try await bench.certify(bench.appleRequest()).certificate
            let connection = try await fixture.connectForRenewal(certificate)
            let csr = try TestAuthority.certificationRequest(commonName: "x")
            await #expect(throws: Self.refusal()) {
                try await bench.service.renewCertificate(csr: csr, on: connection)
            }
            let evidence = try bench.assertion(for: csr, counter: 1)
            let renewed = try await bench.service.renewCertificate(csr: csr, evidence: evidence, on: connection)
            #expect(renewed.certificate.attestation == .appAttest)
            // The challenge is spent, and the counter is used.
            await #expect(throws: Self.refusal()) {
                try await bench.service.renewCertificate(csr: csr, evidence: evidence, on: connection)
            }
            let old = try bench.assertion(for: csr, counter: 1)
            await #expect(throws: Self.refusal()) {
                try await bench.service.renewCertificate(csr: csr, evidence: old, on: connection)
            }
            // The attested key may be kept as it is.
            let kept = try await bench.service.renewCertificate(csr: nil, on: connection)
            #expect(kept.certificate.attestation == .appAttest)
        }
    }

    @Test("vouches for no further key after its app was removed, or with a key of development in production")
    func endedAssertions() async throws {
        try await ServiceFixture.run(Self.policy()) { fixture in
            let bench = try await AttestationBench(fixture)
            let certificate = try await bench.certify(bench.appleRequest()).certificate
            let connection = try await fixture.connectForRenewal(certificate)
            let csr = try TestAuthority.certificationRequest(commonName: "x")
            func renew(_ counter: UInt32) async throws -> CertifiedDevice {
                let evidence = try bench.assertion(for: csr, counter: counter)
                return try await bench.service.renewCertificate(csr: csr, evidence: evidence, on: connection)
            }
            let app = try #require(bench.apps.first)
            try await fixture.admin.removeAttestedApp(app, of: bench.app)
            let removed = await #expect(throws: Refusal.self) { try await renew(1) }
            #expect(removed?.reason == .gate && removed?.detail == AttestationDefect.appleApp.rawValue)
            // It keeps the mark with the key that it attested.
            let kept = try await bench.service.renewCertificate(csr: nil, on: connection)
            #expect(kept.certificate.attestation == .appAttest)
            try await fixture.admin.addAttestedApp(app, to: bench.app)
            try await fixture.store.write { transaction in
                let records = AttestationRepository(transaction)
                let stored = try #require(try records.find(certificate.deviceID)).attestation
                guard case .appAttest(let key, let app, _) = stored else { return }
                try records.set(.appAttest(key: key, app: app, isProduction: false), of: certificate.deviceID)
            }
            let development = await #expect(throws: Refusal.self) { try await renew(1) }
            #expect(development?.detail == AttestationDefect.environment.rawValue)
        }
    }

    @Test("loses the mark with a new key if the gate is another one")
    func otherGate() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try await AttestationBench(fixture)
            let certificate = try await bench.certify(bench.androidRequest()).certificate
            #expect(certificate.attestation == .tee)
            let connection = try await fixture.connectForRenewal(certificate)
            let csr = try TestAuthority.certificationRequest(commonName: "x")
            let renewed = try await bench.service.renewCertificate(csr: csr, on: connection)
            #expect(renewed.certificate.attestation == .unattested)
            func isStored() async throws -> Bool {
                try await fixture.store.read { try AttestationRepository($0).find(certificate.deviceID) != nil }
            }
            // Before its first use the attested key is still in use, and lists of revoked chains are compared with it.
            #expect(try await isStored())
            _ = try await fixture.connect(renewed.certificate.thumbprint)
            #expect(try await !isStored())
        }
    }

    @Test("gets no mark that another node took from it, although this one does not know it yet")
    func distrustedElsewhere() async throws {
        try await ServiceFixture.run(Self.policy()) { fixture in
            let bench = try await AttestationBench(fixture)
            let certificate = try await bench.certify(bench.androidRequest()).certificate
            let connection = try await fixture.connectForRenewal(certificate)
            try await fixture.store.write { try AttestationRepository($0).distrust(certificate.deviceID) }
            #expect(connection.attestation == .tee)
            let renewed = try await bench.service.renewCertificate(csr: nil, on: connection).certificate
            let stored = try await fixture.store.read { try CertificateRepository($0).find(serial: renewed.serial) }
            #expect(renewed.attestation == .unattested && stored?.attestation == .unattested)
        }
    }
}
