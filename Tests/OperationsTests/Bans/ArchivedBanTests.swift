import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// Users whose document numbers were archived and dropped: what is left must do for a ban.
@Suite("Banning users who were taken offline")
struct ArchivedBanTests {
    /// A user whose issuer-checked card's number is dropped, by a process with other keys where that is wanted.
    private func run(
        purgingWith keys: (ServiceFixture) throws -> PersonalKeys = { $0.personalKeys },
        _ body: (BanBench, PhoneBench.Person) async throws -> Void
    ) async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture, confirmation: .confirmed)
            let alice = try await bench.phones.person("alice")
            try await bench.prove("+14155552671", alice)
            #expect(try await bench.show(alice).assurance == .issuerChecked)
            fixture.clock.advance(1)
            let archive = ArchiveUsers(fixture.admin, keys: try keys(fixture))
            let written = try await archive.write(
                since: Date(timeIntervalSince1970: 0), again: false, recipients: ["age1example"]
            ) { _ in }
            #expect(try await archive.mark(written, purging: [.documentNumber]) == 1)
            let export = try await fixture.context.exportPersonalData(of: alice.session.userID, on: alice.connection)
                .json.jsonText
            #expect(!export.contains("T64225789") && !export.contains("document_index"))
            try await body(bench, alice)
        }
    }

    private func expectHeld(_ bench: BanBench, _ name: String = "bob") async throws {
        let person = try await bench.stranger(name)
        try await bench.prove("+1415555270\(name.count)", person)
        await #expect(throws: Refusal(.userBanned, "")) { try await bench.show(person) { $0.number = "t64-225 789" } }
        try await bench.show(person) { $0.number = "T64235780" }
    }

    @Test("extends to the document by its indexes alone, and those go when the person is erased and the ban is over")
    func indexes() async throws {
        try await run { bench, alice in
            let done = try await bench.ban(.user("test/alice"))
            #expect(done.impact.holdsDocument)
            try await expectHeld(bench)
            _ = try await bench.fixture.context.erasePersonalData(of: alice.session.userID, on: alice.connection)
            try await expectHeld(bench, "carol")
            _ = try await bench.admin.liftBan(done.ban.id, note: "over")
            #expect(try await bench.count("ban_holds") == 0)
        }
    }

    @Test("names the user where the document is banned, and the ban forgets the person who is erased")
    func document() async throws {
        try await run { bench, alice in
            let done = try await bench.ban(try BanTarget.document(reading: "VA:T64225789"), note: "of a person")
            #expect(done.impact.users.map(\.user.id) == [alice.session.userID])
            _ = try await bench.fixture.context.erasePersonalData(of: alice.session.userID, on: alice.connection)
            #expect(try await bench.admin.readBan(done.ban.id).note == nil)
            try await expectHeld(bench)
        }
    }

    @Test("extends under every version of the index key that there was when the number was dropped")
    func versions() async throws {
        let second = SymmetricKey(size: .bits256)
        let rotated: (ServiceFixture) throws -> PersonalKeys = {
            try PersonalKeys(wrapping: [1: $0.wrappingKey], index: [1: $0.indexKey, 2: second])
        }
        try await run(purgingWith: rotated) { bench, _ in
            try await bench.ban(.user("test/alice"))
            let fixture = bench.fixture
            let versions = try await fixture.store.read { try BanRepository($0).indexVersions(.document) }
            #expect(versions == [1, 2])
            // A process that has the second version alone finds it, too.
            let newer = try PersonalKeys(wrapping: [1: fixture.wrappingKey], index: [2: second])
            let bob = try await bench.stranger("bob")
            try await bench.prove("+14155552672", bob)
            let specimen = try #require(CardSpecimen("VA"))
            await #expect(throws: Refusal(.userBanned, "")) {
                try await fixture.context(keys: newer).submitCard(
                    .aamva(Data(specimen.bytes).base64EncodedString()), for: bob.session, askIssuer: nil)
            }
        }
    }

    @Test("extends to number and document of a user whose rows cannot be opened, by the rows' own indexes")
    func unreadable() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture, confirmation: .confirmed)
            let alice = try await bench.phones.person("alice")
            try await bench.prove("+14155552671", alice)
            try await bench.show(alice)
            try await fixture.store.write {
                try $0.execute("UPDATE identity_cards SET sealed_facts = $1", [.bytes([1, 2, 3])])
                try $0.execute("UPDATE authenticated_users SET phone_number = $1", [.bytes([1, 2, 3])])
            }
            try await bench.ban(.user("test/alice"))
            #expect(try await bench.prove("+14155552671", try await bench.stranger("dave")).isBanned)
            try await expectHeld(bench)
        }
    }
}
