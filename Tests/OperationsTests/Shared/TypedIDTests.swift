import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("An id that an admin types")
struct TypedIDTests {
    @Test("is whole, or a beginning of at least eight characters that only one object has", arguments: StoreKind.shared)
    func resolves(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let admin = fixture.admin
            let session = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            for count in [8, 9, 13, 14, 35, 36] {
                let typed = TypedID<Kind.Session>(String(session.id.description.prefix(count)))
                #expect(try await admin.resolve(typed) == session.id, "\(count)")
            }
            let upper = TypedID<Kind.Session>(session.id.description.uppercased())
            #expect(try await admin.resolve(upper) == session.id)
            // The same characters of another kind of object.
            await #expect(throws: Refusal(.notFound, "")) {
                try await admin.resolve(TypedID<Kind.Ban>(String(session.id.description.prefix(8))))
            }
            // A whole id is for its reader, which knows whether there is one.
            let unknown = SessionID(UUID())
            #expect(try await admin.resolve(TypedID<Kind.Session>(unknown.description)) == unknown)
        }
    }

    @Test("is refused with the candidates if several objects begin with it", arguments: StoreKind.shared)
    func ambiguous(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let provider = fixture.registration.provider.id
            let ids = (0..<7).compactMap { UserID("0123abcd-0000-4000-8000-00000000000\($0)") }
            #expect(ids.count == 7)
            try await fixture.store.write { transaction in
                for id in ids {
                    _ = try UserRepository(transaction).findOrCreate(
                        providerID: provider, externalID: id.description, newID: id, at: transaction.now)
                }
            }
            for name in ["0123abcd", "0123ABCD-0000"] {
                let refusal = await #expect(throws: Refusal.self) { try await fixture.admin.readUser(name) }
                #expect(refusal?.code == .conflict)
                for id in ids.prefix(5) { #expect(refusal?.detail.contains(id.description) == true) }
                #expect(refusal?.detail.contains("…") == true)
            }
            #expect(try await fixture.admin.readUser(ids[3].description).user.id == ids[3])
            await #expect(throws: Refusal(.notFound, "")) { try await fixture.admin.readUser("0123abce") }
            // Seven characters are no beginning, and the name of nobody.
            await #expect(throws: Refusal(.notFound, "")) { try await fixture.admin.readUser("0123abc") }
        }
    }

    @Test("names providers, apps and certificates too, and a slug comes first")
    func others() async throws {
        try await ServiceFixture.run { fixture in
            let provider = fixture.registration.provider
            let begun = String(provider.id.description.prefix(8))
            #expect(try await fixture.admin.readProvider(begun).provider.id == provider.id)
            let session = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            let app = fixture.registration.applicationID
            let allowed = try await fixture.admin.allowApp(
                TypedID(String(app.description.uppercased().prefix(10))),
                of: String(session.userID.description.prefix(8)), reason: nil)
            #expect(allowed.app == app && !allowed.wasForbidden)
            let serial = try #require(try await fixture.admin.readDevice(session.deviceID).certificates.first).serial
            for count in [8, 9, serial.count] {
                let found = try await fixture.admin.readCertificate(serial: String(serial.prefix(count)))
                #expect(found.certificate.serial == serial, "\(count)")
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.admin.readCertificate(serial: String(serial.prefix(7)))
            }
        }
    }

    @Test("is refused by every operation if it is too short, also if only one object begins with it")
    func short() async throws {
        try await ServiceFixture.run { fixture in
            let app = fixture.registration.applicationID.description
            let session = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            let origin = try #require(WalletOrigin("https://app.example"))
            for text in ["", String(app.prefix(1)), String(app.prefix(7)), "nonsense!", app + "0"] {
                let typed = TypedID<Kind.Application>(text)
                await #expect(throws: Refusal(.malformedRequest, ""), "\(text)") {
                    try await fixture.admin.addOrigin(origin, to: "test", app: typed)
                }
                await #expect(throws: Refusal(.malformedRequest, ""), "\(text)") {
                    try await fixture.admin.allowApp(typed, of: session.userID.description, reason: nil)
                }
                await #expect(throws: Refusal(.malformedRequest, ""), "\(text)") {
                    try await fixture.admin.resolve(typed)
                }
            }
            #expect(try await fixture.admin.listOrigins(of: "test").isEmpty)
            try await fixture.admin.addOrigin(origin, to: "test", app: TypedID(String(app.uppercased().prefix(8))))
            #expect(try await fixture.admin.listOrigins(of: "test").count == 1)
        }
    }

    @Test("finds entries of the audit log, also by name, and nothing is found for what no entry is about")
    func audit() async throws {
        try await ServiceFixture.run { fixture in
            let session = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            let slug = fixture.registration.provider.slug.text
            _ = try await fixture.admin.challengeUser(session.userID.description, reason: nil)
            let subject = "user \(session.userID)"
            let texts = [
                session.userID.description, subject, "\(slug)/alice", "user \(slug)/alice",
                session.userID.description.uppercased(), "user \(session.userID.description.uppercased())",
                String(session.userID.description.uppercased().prefix(8)),
                String(session.userID.description.prefix(8)), "user \(session.userID.description.prefix(13))",
            ]
            try await fixture.admin.endSession(session.id)
            let known = try await fixture.store.read { try $0.query("SELECT DISTINCT subject FROM audit_entries") }
            let subjects = try known.map { try $0.text(0) }
            #expect(subjects.contains(subject))
            for text in texts {
                #expect(try await fixture.admin.auditSubjects(meantBy: text) == [subject], "\(text)")
            }
            #expect(
                try await fixture.admin.auditSubjects(meantBy: String(session.id.description.prefix(8)))
                    == ["session \(session.id)"])
            #expect(
                try await fixture.admin.auditSubjects(meantBy: slug)
                    == ["provider \(fixture.registration.provider.id)"])
            let unknown = UUID().uuidString.lowercased()
            for text in [
                unknown, "user \(unknown)", String(unknown.prefix(8)), "\(slug)/nobody", "nobody", "no/body", "",
            ] {
                await #expect(throws: Refusal(.notFound, ""), "\(text)") {
                    try await fixture.admin.auditSubjects(meantBy: text)
                }
            }
            // Entries about it may follow.
            #expect(try await fixture.admin.auditSubjects(meantBy: unknown, mayBeNew: true).contains("user \(unknown)"))
        }
    }
}
