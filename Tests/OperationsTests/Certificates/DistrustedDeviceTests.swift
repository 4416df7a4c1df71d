import Database
import Delivery
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("A device whose attestation is revoked")
struct DistrustedDeviceTests {
    private static func run(
        _ action: CertificationPolicy.RevokedAction,
        _ body: (ServiceFixture, DeviceCertificate, ClientConnection, _ token: String) async throws -> Void
    ) async throws {
        var policy = Policy()
        policy.certification.gate = .attested
        policy.certification.attestation.revoked = action
        policy.certification.attestation.statusUnknown = .admit
        try await ServiceFixture.run(policy) { fixture in
            let bench = try await AttestationBench(fixture, withList: false)
            let certificate = try await bench.certify(bench.androidRequest()).certificate
            let connection = try await fixture.connect(certificate.thumbprint)
            let token = try #require(try await fixture.opened("alice", on: connection).token).text.reveal()
            let tasks = MaintenanceTask.all(of: fixture.context)
            let task = try #require(tasks.first { $0.name == "distrusted_devices" })
            func compare() async throws {
                _ = try await fixture.context.maintain { transaction, events in
                    try task.batch(transaction, MaintenanceBatch(), &events)
                }
            }
            try await compare()
            _ = try await fixture.context.checkSession(token, on: connection)
            let list = Array(#"{"entries": {"\#(AttestationBench.batchSerial)": {"status": "SUSPENDED"}}}"#.utf8)
            #expect(try await RefreshAttestationStatus(bench.service) { .read(list) }() == nil)
            fixture.clock.advance(1)
            try await compare()
            let summary = try await fixture.admin.readDevice(certificate.deviceID).summary
            #expect(summary.attestation == .unattested && connection.attestation == .unattested)
            let events = try await fixture.store.read {
                try $0.query("SELECT event FROM audit_entries").map { try $0.text(0) }
            }
            #expect(events.count { $0 == "device_distrusted" } == 1)
            try await body(fixture, certificate, connection, token)
            // Once only.
            try await compare()
            let again = try await fixture.store.read {
                try $0.query("SELECT event FROM audit_entries").map { try $0.text(0) }
            }
            #expect(again.count { $0 == "device_distrusted" } == 1)
        }
    }

    @Test("has its sessions challenged")
    func challenged() async throws {
        try await Self.run(.challenge) { fixture, _, connection, token in
            await #expect(throws: Refusal(.sessionChallenged, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
        }
    }

    @Test("has its certificates revoked and its sessions ended, if the policy says so")
    func revoked() async throws {
        try await Self.run(.revoke) { fixture, certificate, _, _ in
            let found = try await fixture.store.read { try CertificateRepository($0).find(serial: certificate.serial) }
            #expect(found?.revoked?.reason == "privilegeWithdrawn")
            let open = try await fixture.store.read {
                try SessionRepository($0).listOpen(.device(certificate.deviceID)).count
            }
            #expect(open == 0)
        }
    }

    @Test("keeps its sessions, if the policy says so")
    func kept() async throws {
        try await Self.run(.keep) { fixture, _, connection, token in
            _ = try await fixture.context.checkSession(token, on: connection)
        }
    }
}
