import Authority
import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Renewing a certificate")
struct RenewalTests {
    private static let superseded = Refusal(.certificateRevoked, "")

    /// A device whose certificate is due for renewal, with its key.
    private struct Due {
        let key: P256.Signing.PrivateKey
        let device: CertifiedDevice
        let connection: ClientConnection

        var certificate: DeviceCertificate { device.certificate }
    }

    private static func csr(_ key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()) throws -> String {
        try TestAuthority.certificationRequest(commonName: UUID().uuidString, key: key)
    }

    private func certified(
        in fixture: ServiceFixture, key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()
    ) async throws -> Due {
        let device = try await fixture.certify(
            Service.DeviceRequest(
                csr: try Self.csr(key), presenceKey: nil, enrolmentToken: nil, captcha: nil, address: "192.0.2.1"))
        return Due(key: key, device: device, connection: try await fixture.connect(device.certificate.thumbprint))
    }

    private func due(in fixture: ServiceFixture) async throws -> Due {
        let made = try await certified(in: fixture)
        fixture.clock.advance(made.certificate.renewAfter.timeIntervalSince(fixture.clock.now))
        return made
    }

    private func text(_ opened: Service.OpenedSession) throws -> String { try #require(opened.token).text.reveal() }

    /// A serial as `openssl` writes it: an integer has no leading zero bytes.
    private static func written(_ serial: String) -> String {
        var digits = serial.lowercased()[...]
        while digits.hasPrefix("00") { digits = digits.dropFirst(2) }
        return String(digits)
    }

    /// The revocation list as `openssl` reads it.
    private func listed(in fixture: ServiceFixture) async throws -> String {
        let scratch = try ScratchDirectory()
        let file = try scratch.write(try await fixture.publish(), "list.der")
        let result = try await Command.run("openssl", ["crl", "-inform", "DER", "-in", file, "-noout", "-text"])
        #expect(result.status == 0, "\(result.errors)")
        return result.output.lowercased()
    }

    @Test("leaves a list in place for half an hour, then makes a newer one although nothing was revoked")
    func listAge() async throws {
        try await ServiceFixture.run { fixture in
            let first = try await fixture.publish()
            fixture.clock.advance(1799)
            #expect(try await fixture.publish() == first)
            fixture.clock.advance(1)
            let second = try await fixture.publish()
            #expect(second != first)
            let listed = try await listed(in: fixture)
            #expect(listed.contains("x509v3 crl number: \n                2\n"))
            #expect(try await fixture.publish() == second)
        }
    }

    @Test("is refused a second before two thirds of its life, and then allowed")
    func early() async throws {
        try await ServiceFixture.run { fixture in
            let made = try await certified(in: fixture)
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.context.renewCertificate(csr: nil, on: made.connection)
            }
            fixture.clock.advance(made.certificate.renewAfter.timeIntervalSince(fixture.clock.now) - 1)
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.context.renewCertificate(csr: nil, on: made.connection)
            }
            fixture.clock.advance(1)
            let renewed = try await fixture.context.renewCertificate(csr: nil, on: made.connection).certificate
            #expect(renewed.deviceID == made.certificate.deviceID)
            #expect(renewed.keyHash == made.certificate.keyHash)
            #expect(renewed.replaces == made.certificate.serial)
            #expect(renewed.serial != made.certificate.serial)
            #expect(renewed.notAfter > made.certificate.notAfter)
        }
    }

    @Test("with the same key supersedes the old one when the new one is first seen; sessions go on under it")
    func sameKey() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let opened = try await fixture.opened("alice", on: old.connection)
            let token = try text(opened)
            let renewed = try await fixture.context.renewCertificate(csr: nil, on: old.connection).certificate

            // Issued is not seen: the old one still counts, and the list does not name it.
            try await fixture.context.authenticate(old.connection)
            _ = try await fixture.context.checkSession(token, on: old.connection)
            #expect(try await !listed(in: fixture).contains(Self.written(old.certificate.serial)))

            let connection = try await fixture.connect(renewed.thumbprint)
            await #expect(throws: Self.superseded) { try await fixture.context.authenticate(old.connection) }
            #expect(!old.connection.isValid(at: fixture.clock.now))
            await #expect(throws: Self.superseded) { try await fixture.connect(old.certificate.thumbprint) }
            // Its key is certified still: nobody needs a list to say that the older certificate of it ended.
            #expect(try await !listed(in: fixture).contains(Self.written(old.certificate.serial)))
            #expect(try await !listed(in: fixture).contains(Self.written(renewed.serial)))

            let session = try await fixture.context.checkSession(token, on: connection)
            #expect(session.id == opened.session.id)
            #expect(session.thumbprint == renewed.thumbprint)
            let seen = try await fixture.context.introspect(token, for: fixture.backend())
            #expect(seen?.session.thumbprint == renewed.thumbprint)
        }
    }

    @Test("with a new key challenges the device's sessions, which their user renews under it")
    func newKey() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let opened = try await fixture.opened("alice", on: old.connection)
            let token = try text(opened)
            let renewed = try await fixture.context.renewCertificate(csr: try Self.csr(), on: old.connection)
                .certificate
            #expect(renewed.keyHash != old.certificate.keyHash)
            let connection = try await fixture.connect(renewed.thumbprint)
            #expect(try await listed(in: fixture).contains(Self.written(old.certificate.serial)))
            await #expect(throws: Refusal(.sessionChallenged, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
            let again = try await fixture.context.renewSession(
                sessionToken: token, identityToken: try fixture.identityToken("alice", on: connection), on: connection)
            #expect(again.session.id == opened.session.id)
            #expect(again.session.thumbprint == renewed.thumbprint)
            _ = try await fixture.context.checkSession(try text(again), on: connection)
        }
    }

    @Test("from a superseded certificate is refused, on a connection that was open all the time too")
    func fromSuperseded() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let renewed = try await fixture.context.renewCertificate(csr: nil, on: old.connection).certificate
            _ = try await fixture.connect(renewed.thumbprint)
            await #expect(throws: Self.superseded) {
                try await fixture.context.renewCertificate(csr: nil, on: old.connection)
            }
            await #expect(throws: Self.superseded) {
                try await fixture.context.renewCertificate(csr: try Self.csr(), on: old.connection)
            }
        }
    }

    @Test("is made three times a day and not more; what is refused does not count, other devices are not touched")
    func threeADay() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let start = fixture.clock.now
            for _ in 0..<5 {
                await #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
                    try await fixture.context.renewCertificate(csr: "nonsense", on: old.connection)
                }
            }
            for _ in 0..<3 {
                _ = try await fixture.context.renewCertificate(csr: nil, on: old.connection)
                fixture.clock.advance(60)
            }
            for _ in 0..<5 {
                await #expect(throws: Refusal(.rateLimited, "")) {
                    try await fixture.context.renewCertificate(csr: nil, on: old.connection)
                }
            }
            // The last one alone is admitted, beside what it renews, and nothing was added to the list.
            let stored = try await fixture.store.read {
                try $0.first(
                    "SELECT COUNT(*) FROM certificates WHERE device_id = $1 AND revoked_at IS NULL",
                    [.text(old.certificate.deviceID.description)])?
                    .integer(0)
            }
            #expect(stored == 2)
            #expect(try await fixture.store.read { try CertificateRepository($0).listed(now: $0.now).isEmpty })
            let other = try await certified(in: fixture)
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.context.renewCertificate(csr: nil, on: other.connection)
            }
            fixture.clock.advance(start.addingTimeInterval(86_400).timeIntervalSince(fixture.clock.now))
            _ = try await fixture.context.renewCertificate(csr: nil, on: old.connection)
        }
    }

    @Test("that nobody saw is not admitted behind the next one, also by a node that was just being shown it")
    func forgottenWhileShown() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let lost = try await fixture.context.renewCertificate(csr: try Self.csr(), on: old.connection).certificate
            // It is in that node's memory, and was not yet written down as seen.
            let stalled = FailingStore(store: fixture.store, statements: 0)
            let node = ServingNode(caches: Caches(store: fixture.store))
            let slow = fixture.context(store: stalled, node: node)
            let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: lost.thumbprint) {}
            await #expect(throws: FailingStore.Crash.self) { try await slow.authenticate(connection) }
            _ = try await fixture.context.renewCertificate(csr: nil, on: old.connection)
            let service = fixture.context(node: node)
            for _ in 0..<2 {
                await #expect(throws: Refusal(.certificateRevoked, "")) { try await service.authenticate(connection) }
            }
            let kept = try await fixture.store.read { try CertificateRepository($0).find(serial: lost.serial) }
            #expect(kept?.isUnadmitted == true)
            try await fixture.context.authenticate(old.connection)
        }
    }

    @Test("whose answer was lost is done again: the one that nobody saw counts no more")
    func lostAnswer() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let lost = try await fixture.context.renewCertificate(csr: nil, on: old.connection).certificate
            let second = try await fixture.context.renewCertificate(csr: nil, on: old.connection).certificate
            await #expect(throws: Self.superseded) { try await fixture.connect(lost.thumbprint) }
            _ = try await fixture.connect(second.thumbprint)
            #expect(try await !listed(in: fixture).contains(Self.written(lost.serial)))
        }
    }

    @Test("whose answer was lost is listed with what it renews, once that is revoked")
    func lostAndRevoked() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let lost = try await fixture.context.renewCertificate(csr: try Self.csr(), on: old.connection).certificate
            _ = try await fixture.context.renewCertificate(csr: nil, on: old.connection)
            try await fixture.revokeCertificate.revoke(serial: old.certificate.serial, reason: .unspecified)
            let list = try await listed(in: fixture)
            #expect(list.contains(Self.written(lost.serial)))
        }
    }

    @Test("does not outlive the revocation of what it renews, where nobody has seen it yet")
    func revokedMeanwhile() async throws {
        try await ServiceFixture.run { fixture in
            let old = try await due(in: fixture)
            let opened = try await fixture.opened("alice", on: old.connection)
            let renewed = try await fixture.context.renewCertificate(csr: try Self.csr(), on: old.connection)
                .certificate
            try await fixture.revokeCertificate.revoke(
                serial: old.certificate.serial, reason: .keyCompromise)
            await #expect(throws: Self.superseded) { try await fixture.connect(renewed.thumbprint) }
            let list = try await listed(in: fixture)
            #expect(list.contains(Self.written(old.certificate.serial)))
            #expect(list.contains(Self.written(renewed.serial)))
            let other = try await fixture.connectNewDevice()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(try text(opened), on: other)
            }
        }
    }

    @Test("with another device's key, a revoked key or a weak key is refused by its own reason")
    func refusedKeys() async throws {
        try await ServiceFixture.run { fixture in
            let other = try await certified(in: fixture)
            let gone = try await certified(in: fixture)
            try await fixture.revokeCertificate.revoke(
                serial: gone.certificate.serial, reason: .keyCompromise)
            let mine = try await due(in: fixture)
            let scratch = try ScratchDirectory()
            let weak = scratch.file("weak.csr")
            let made = try await Command.run(
                "openssl",
                [
                    "req", "-new", "-newkey", "rsa:1024", "-noenc", "-keyout", scratch.file("weak.key"), "-subj",
                    "/CN=x", "-out", weak,
                ])
            #expect(made.status == 0, "\(made.errors)")
            for (csr, reason) in [
                (try Self.csr(other.key), "key_in_use"), (try Self.csr(gone.key), "key_revoked"),
                (try scratch.text("weak.csr"), "weak_key"), ("nonsense", "malformed"),
            ] {
                await #expect(throws: Refusal(.invalidCSR, "", reason: Refusal.Reason(rawValue: reason)), "\(reason)") {
                    try await fixture.context.renewCertificate(csr: csr, on: mine.connection)
                }
            }
            // Nothing was spent by the refusals, and the device's own key is no stranger's to take.
            _ = try await fixture.context.renewCertificate(csr: try Self.csr(mine.key), on: mine.connection)
            await #expect(throws: Refusal(.invalidCSR, "", reason: .keyInUse)) {
                try await certified(in: fixture, key: mine.key)
            }
        }
    }
}
