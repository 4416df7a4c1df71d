import Authority
import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// A key that is found to be in other hands, also after its certificate was superseded.
@Suite("Revoking for a compromised key")
struct CompromiseTests {
    private struct Line {
        var connection: ClientConnection
        var certificates: [DeviceCertificate]
    }

    /// A certificate that was renewed so often, each renewal shown; with a new key where it says so.
    private func line(in fixture: ServiceFixture, newKeys: [Bool]) async throws -> Line {
        let first = try await fixture.certify(try fixture.request()).certificate
        var line = Line(connection: try await fixture.connect(first.thumbprint), certificates: [first])
        for isNew in newKeys {
            let last = line.certificates[line.certificates.count - 1]
            fixture.clock.advance(last.renewAfter.timeIntervalSince(fixture.clock.now))
            let csr = isNew ? try TestAuthority.certificationRequest(commonName: "x") : nil
            let renewed = try await fixture.context.renewCertificate(csr: csr, on: line.connection).certificate
            line.connection = try await fixture.connect(renewed.thumbprint)
            line.certificates.append(renewed)
        }
        return line
    }

    /// What is on the list, or would be if it had not run out while the clock was moved.
    private func listed(_ fixture: ServiceFixture) async throws -> Set<String> {
        try await fixture.store.read {
            Set(try CertificateRepository($0).listed(now: TestAuthority.referenceTime).map(\.serial))
        }
    }

    private func revoke(_ serial: String, _ reason: RevocationReason, in fixture: ServiceFixture) async throws {
        try await fixture.revokeCertificate.revoke(serial: serial, reason: reason)
    }

    @Test("takes the successors of a superseded certificate, its sessions, and is audited for each")
    func superseded() async throws {
        try await ServiceFixture.run { fixture in
            let line = try await line(in: fixture, newKeys: [true, true])
            let opened = try await fixture.opened("alice", on: line.connection)
            let serials = line.certificates.map(\.serial)
            let shown = try await fixture.admin.readCertificate(serial: serials[0])
            #expect(shown.successors.map(\.serial) == Array(serials[1...]))
            // Another reason says nothing of the key: the certificate ended already.
            await #expect(throws: Refusal(.conflict, "")) {
                try await revoke(serials[0], .cessationOfOperation, in: fixture)
            }
            try await revoke(serials[0], .keyCompromise, in: fixture)
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.context.authenticate(line.connection)
            }
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(
                    try #require(opened.token).text.reveal(), on: try await fixture.connectNewDevice())
            }
            let states = try await fixture.store.read { transaction in
                try serials.map { try CertificateRepository(transaction).find(serial: $0)?.revoked?.reason }
            }
            #expect(states == ["keyCompromise", "keyCompromise", "keyCompromise"])
            let entries = try await fixture.store.read {
                try $0.query("SELECT subject, detail FROM audit_entries WHERE event = 'certificate_revoked'")
                    .map { [try $0.text(0), try $0.textOrNull(1) ?? "-"] }
            }
            #expect(
                Set(entries)
                    == [
                        ["certificate \(serials[0])", "-"], ["certificate \(serials[1])", "with \(serials[0])"],
                        ["certificate \(serials[2])", "with \(serials[0])"],
                    ])
            await #expect(throws: Refusal(.conflict, "")) { try await revoke(serials[0], .keyCompromise, in: fixture) }
        }
    }

    @Test("leaves what was before the lost key alone, and takes what has the same key")
    func inTheMiddle() async throws {
        try await ServiceFixture.run { fixture in
            let line = try await line(in: fixture, newKeys: [true, false, true])
            let serials = line.certificates.map(\.serial)
            #expect(try await listed(fixture) == Set(serials.prefix(3)))
            try await revoke(serials[2], .keyCompromise, in: fixture)
            #expect(try await listed(fixture) == Set(serials))
            let reasons = try await fixture.store.read { transaction in
                try serials.map { try CertificateRepository(transaction).find(serial: $0)?.revoked?.reason }
            }
            #expect(reasons == ["superseded", "keyCompromise", "keyCompromise", "keyCompromise"])
        }
    }

    @Test("of a certificate with the key of an earlier one puts that one on the list as well, whatever the reason")
    func sameKey() async throws {
        try await ServiceFixture.run { fixture in
            let line = try await line(in: fixture, newKeys: [false, false])
            // As long as that key counts the list does not name what it superseded.
            #expect(try await listed(fixture).isEmpty)
            try await fixture.revokeCertificate.own(of: line.connection)
            #expect(try await listed(fixture) == Set(line.certificates.map(\.serial)))
        }
    }

    @Test("of a whole device replaces the reason of what was superseded")
    func device() async throws {
        try await ServiceFixture.run { fixture in
            let line = try await line(in: fixture, newKeys: [true])
            let revoked = try await fixture.admin.revokeDevice(line.certificates[0].deviceID, reason: .keyCompromise)
            #expect(Set(revoked.serials) == Set(line.certificates.map(\.serial)))
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.admin.revokeDevice(line.certificates[0].deviceID, reason: .keyCompromise)
            }
        }
    }
}
