import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// What the audit log says of acts, and what it does not.
@Suite("The acts in the audit log")
struct AuditedActsTests {
    /// Event, actor and reason of each entry on a subject.
    private func entries(on subject: String, in fixture: ServiceFixture) async throws -> [String] {
        try await fixture.store.read { transaction in
            try transaction.query(
                "SELECT event, actor, reason FROM audit_entries WHERE subject = $1 ORDER BY at, event", [.text(subject)]
            ).map { "\(try $0.text(0)) by \(try $0.text(1)): \(try $0.textOrNull(2) ?? "-")" }
        }
    }

    private func text(_ opened: Service.OpenedSession) throws -> String { try #require(opened.token).text.reveal() }

    @Test("Issuance and revocation name certificate, device and reason")
    func certificates() async throws {
        try await ServiceFixture.run { fixture in
            let issued = try await fixture.certify(try fixture.request())
            let connection = try await fixture.connect(issued.certificate.thumbprint)
            try await fixture.revokeCertificate.own(of: connection)
            let device = "device \(issued.certificate.deviceID)"
            #expect(
                try await entries(on: "certificate \(issued.certificate.serial)", in: fixture) == [
                    "certificate_issued by \(device): -",
                    "certificate_revoked by \(device): cessationOfOperation",
                ])
        }
    }

    @Test("A stolen token names the device that showed it, once")
    func theft() async throws {
        try await ServiceFixture.run { fixture in
            let own = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: own)
            let thief = try await fixture.certify(try fixture.request())
            let other = try await fixture.connect(thief.certificate.thumbprint)
            let token = try text(opened)
            for _ in 0..<2 {
                await #expect(throws: Refusal(.bindingMismatch, "")) {
                    try await fixture.context.checkSession(token, on: other)
                }
            }
            #expect(
                try await entries(on: "session \(opened.session.id)", in: fixture) == [
                    "binding_mismatch by device \(thief.certificate.deviceID): -"
                ])
        }
    }

    @Test("Registration, keys and the end of a provider's business name the admin; what a provider ends names it")
    func providers() async throws {
        try await ServiceFixture.run { fixture in
            let provider = fixture.registration.provider.id
            let connection = try await fixture.connectNewDevice()
            let first = try await fixture.opened("alice", on: connection)
            let backend = try await fixture.backend()
            try await fixture.context.revokeSession(try text(first), for: backend)
            try await fixture.context.revokeSession(try text(first), for: backend)
            let second = try await fixture.opened("alice", on: connection)
            try await fixture.context.endUserSessions(of: "alice", at: backend)
            fixture.clock.advance(1)
            _ = try await fixture.admin.disableProvider("test", reason: "ticket:3")
            let logout = "session_ended by provider \(provider): provider_logout"
            #expect(try await entries(on: "session \(first.session.id)", in: fixture) == [logout])
            #expect(try await entries(on: "user \(second.session.userID)", in: fixture) == [logout])
            #expect(
                try await entries(on: "provider \(provider)", in: fixture) == [
                    "provider_added by admin test: -", "provider_disabled by admin test: ticket:3",
                ])
        }
    }

    @Test("A whole life of a user leaves no personal datum in it, and every look at one")
    func personalData() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            try await bench.show(try .virginia, alice)
            _ = try await bench.fixture.context.exportPersonalData(for: alice.session)
            _ = try await bench.admin.exportUser(alice.session.userID.description, reason: "ticket:1")
            _ = try await bench.admin.eraseUser(alice.session.userID.description, reason: "user_request")
            let found = try await entries(on: "user \(alice.session.userID)", in: fixture)
            for entry in [
                "phone_verified by device \(alice.session.deviceID): -",
                "identity_verified by device \(alice.session.deviceID): -",
                "personal_data_read by user \(alice.session.userID): user_request",
                "personal_data_read by admin test: ticket:1", "user_erased by admin test: user_request",
            ] {
                #expect(found.contains(entry), "\(entry)")
            }
            let words = try await fixture.store.read { transaction in
                try transaction.query("SELECT subject, actor, detail, reason FROM audit_entries").flatMap { row in
                    try (0..<4).map { try row.textOrNull($0) ?? "" }
                }
            }
            for datum in ["4155552671", "SAMPLE", "MICHAEL", "T64225789", "BROAD", "alice"] {
                #expect(!words.contains { $0.localizedCaseInsensitiveContains(datum) }, "\(datum)")
            }
        }
    }
}
