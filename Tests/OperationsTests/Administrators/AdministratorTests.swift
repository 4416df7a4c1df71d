import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Administrators")
struct AdministratorTests {
    private static func certificate(_ name: String, _ fixture: ServiceFixture) -> AdministratorCertificate {
        AdministratorCertificate(
            thumbprint: Digest256.of(name), notAfter: fixture.clock.now + 86_400, authority: Digest256.of("authority"))
    }

    @Test("have one name and one account each, and a removed one comes back under the same name only")
    func names() async throws {
        try await ServiceFixture.run { fixture in
            let admin = fixture.admin
            let lena = try await admin.addAdministrator("lena", role: .support, account: "lm")
            await #expect(throws: Refusal.administratorExists("lena")) {
                try await admin.addAdministrator("lena", role: .security)
            }
            await #expect(throws: Refusal.accountOfAnother("lm", "lena")) {
                try await admin.addAdministrator("ben", role: .security, account: "lm")
            }
            await #expect(throws: Refusal.administratorDiffersInCase("lena")) {
                try await admin.addAdministrator("Lena", role: .security)
            }
            for (name, account) in [("a b", nil), ("ben", "a)")] as [(String, String?)] {
                await #expect(throws: Refusal.unreadableAdministratorName) {
                    try await admin.addAdministrator(name, role: .support, account: account)
                }
            }
            try await admin.removeAdministrator("lena", reason: "left_company")
            await #expect(throws: Refusal.administratorDiffersInCase("lena")) {
                try await admin.addAdministrator("LENA", role: .security)
            }
            for name in ["lena", "ben"] {
                await #expect(throws: Refusal.self) { try await admin.removeAdministrator(name) }
                await #expect(throws: Refusal.self) { try await admin.requireAdministrator(name) }
            }
            // The account does not get the rights of an account without an administrator.
            await #expect(throws: Refusal.accountOfAnother("lm", "lena")) {
                try await admin.addAdministrator("ben", role: .security, account: "lm")
            }
            let again = try await admin.addAdministrator("lena", role: .reviewer)
            #expect(again.id == lena.id && again.role == .reviewer && again.account == "lm" && again.removedAt == nil)
            #expect(try await admin.listAdministrators().map { $0.administrator } == [again])
        }
    }

    @Test("lose their former certificates when they are renewed or removed, on every node")
    func certificates() async throws {
        try await ServiceFixture.run(on: .sqlite, nodes: 2) { fixture, nodes in
            let (admin, first) = (fixture.admin, Self.certificate("first", fixture))
            func holders(_ thumbprint: Digest256) async -> [String?] {
                var names: [String?] = []
                for node in nodes {
                    try? await node.invalidator.poll()
                    names.append(try? await node.authenticateAdministrator(thumbprint).name)
                }
                return names
            }
            try await admin.addAdministrator("lena", role: .support, certificate: first)
            #expect(await holders(first.thumbprint) == ["lena", "lena"])
            let second = Self.certificate("second", fixture)
            #expect(try await admin.renewAdministrator("lena", certificate: second) == 1)
            #expect(await holders(first.thumbprint) == [nil, nil])
            #expect(await holders(second.thumbprint) == ["lena", "lena"])
            #expect(nodes.map(\.caches.administrators.count) == [1, 1])
            #expect(try await admin.removeAdministrator("lena") == 1)
            #expect(await holders(second.thumbprint) == [nil, nil])
            // Coming back does not bring the certificates back.
            try await admin.addAdministrator("lena", role: .support)
            #expect(await holders(second.thumbprint) == [nil, nil])
            #expect(await holders(Digest256.of("never")) == [nil, nil])
        }
    }

    @Test("are refused after the end of their certificate, and if the node's caches were dropped they are read again")
    func expiry() async throws {
        try await ServiceFixture.run { fixture in
            let certificate = Self.certificate("first", fixture)
            try await fixture.admin.addAdministrator("lena", role: .support, certificate: certificate)
            let service = fixture.context
            #expect(try await service.authenticateAdministrator(certificate.thumbprint).role == .support)
            service.node.forgetAll()
            #expect(service.caches.administrators.count == 0)
            #expect(try await service.authenticateAdministrator(certificate.thumbprint).role == .support)
            fixture.clock.advance(86_400)
            await #expect(throws: Refusal.administratorCertificateInvalid) {
                try await service.authenticateAdministrator(certificate.thumbprint)
            }
        }
    }

    @Test("are named with their role in the audit log, with the reason of a removal")
    func audit() async throws {
        try await ServiceFixture.run { fixture in
            try await fixture.admin.addAdministrator("lena", role: .support, account: "lm")
            try await fixture.admin.removeAdministrator("lena", reason: "left_company")
            let entries = try await fixture.store.read { transaction in
                try transaction.query(
                    "SELECT event, detail, reason FROM audit_entries WHERE event LIKE 'administrator%' ORDER BY event"
                ).map { row in try [row.text(0), row.text(1), row.textOrNull(2) ?? ""] }
            }
            #expect(
                entries == [
                    ["administrator_added", "lena, role support, account lm", ""],
                    ["administrator_removed", "lena, role support, account lm", "left_company"],
                ])
        }
    }
}
