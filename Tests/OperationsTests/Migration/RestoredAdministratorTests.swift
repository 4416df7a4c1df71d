import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Administrators, across a restore")
struct RestoredAdministratorTests {
    @Test("stay removed and have their present role, and revoked certificates stay revoked; new ones are lost")
    func replay() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let store = bench.context.store
            let admin = Administration(store: store, environment: Environment(), actor: "admin test") {
                throw Refusal(.unavailable, "no keys")
            }
            let end = bench.people.clock.now + 86_400
            func certificate(_ name: String) -> AdministratorCertificate {
                AdministratorCertificate(
                    thumbprint: Digest256.of(name), notAfter: end, authority: Digest256.of("authority"))
            }
            try await admin.addAdministrator("removed", role: .security, certificate: certificate("removed"))
            try await admin.addAdministrator("less", role: .security)
            try await admin.addAdministrator("renewed", role: .support, certificate: certificate("former"))
            try await admin.addAdministrator("kept", role: .auditor, certificate: certificate("kept"))
            try await bench.restored {
                try await admin.removeAdministrator("removed")
                try await admin.removeAdministrator("less")
                try await admin.addAdministrator("less", role: .auditor)
                try await admin.renewAdministrator("renewed", certificate: certificate("present"))
                try await admin.addAdministrator("new", role: .security, certificate: certificate("new"))
            } then: { restored, _ in
                try await restored.read { transaction in
                    let records = AdministratorRepository(transaction)
                    let found = try records.list()
                    #expect(found.map(\.name) == ["kept", "less", "removed", "renewed"])
                    #expect(found.map(\.role) == [.auditor, .auditor, .security, .support])
                    #expect(found.map { $0.removedAt != nil } == [false, false, true, false])
                    let valid = try ["removed", "former", "kept", "present", "new"].map {
                        try records.find(thumbprint: Digest256.of($0)) != nil
                    }
                    #expect(valid == [false, false, true, false, false])
                    let audited = try transaction.query(
                        "SELECT id FROM audit_entries WHERE detail LIKE '%again after a restore'")
                    #expect(audited.count == 2)
                }
            }
        }
    }
}
