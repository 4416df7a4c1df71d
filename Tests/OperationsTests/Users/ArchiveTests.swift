import Database
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@testable import Domain

@Suite("Taking users offline")
struct ArchiveTests {
    /// A fixture in which some users are verified, one a second.
    private static func run(
        _ count: Int, _ body: (CardBench, ArchiveUsers, [PhoneBench.Person]) async throws -> Void
    ) async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            var people: [PhoneBench.Person] = []
            for index in 0..<count {
                let person = try await bench.withPhone("user \(index)", number(index))
                let specimen = try CardBench.specimen("T6423578\(index)", given: "USER\(Self.letters[index])")
                #expect(try await bench.show(specimen, person).status == .verified)
                people.append(person)
                fixture.clock.advance(1)
            }
            let archive = ArchiveUsers(fixture.admin, keys: fixture.personalKeys, batch: 3)
            try await body(bench, archive, people)
        }
    }

    private static let letters = Array("ABCDEFGHIJ")
    private static let start = Date(timeIntervalSince1970: 0)

    private static func number(_ index: Int) -> String { "+1415555267\(index)" }

    /// Writes an archive as a list of its lines.
    private static func lines(
        _ archive: ArchiveUsers, since: Date = start, again: Bool = false
    ) async throws -> (ArchiveUsers.Written, [JSONValue]) {
        var text = ""
        let written = try await archive.write(since: since, again: again, recipients: ["age1example"]) { text += $0 }
        let lines = try text.split(separator: "\n").map { try StrictJSON.parse(Array($0.utf8)) }
        #expect(lines.count == written.count)
        return (written, lines)
    }

    private static func users(_ lines: [JSONValue]) -> [String?] { lines.map { $0["user_id"]?.text } }

    @Test("Every verified user stands in it once, in the order of bench, and each read is in the audit log")
    func complete() async throws {
        try await Self.run(7) { bench, archive, people in
            let unverified = try await bench.withPhone("nobody", "+14155552690")
            try await bench.fixture.store.write { [keys = bench.fixture.personalKeys] transaction in
                try AgeProofRepository(transaction, keys: keys).add(
                    .over18, of: people[2].session.userID, at: bench.fixture.clock.now)
            }
            let (written, lines) = try await Self.lines(archive)
            #expect(Self.users(lines) == people.map(\.session.userID.description))
            #expect(written.unreadable == 0)
            #expect(lines[2]["full_name"]?.text == "USERC JOHN SAMPLE JR")
            #expect(lines[2]["phone_number"]?.text == Self.number(2))
            #expect(lines[2]["document_number"]?.text == "T64235782")
            #expect(lines[2]["postal_address"]?.text?.hasPrefix("2300 WEST BROAD STREET") == true)
            #expect(lines[2]["assurance"]?.text == "barcode")
            #expect(lines[2]["age_proof"]?["age_over_18"] == .bool(true))
            #expect(lines[2]["age_proof"]?["age_over_21"] == .bool(false) && lines[1]["age_proof"] == .null)
            let subjects = try await bench.fixture.store.read { transaction in
                try transaction.query(
                    "SELECT subject FROM audit_entries WHERE event = 'personal_data_read' AND detail LIKE 'archive %'"
                ).map { try $0.text(0) }
            }
            #expect(Set(subjects) == Set(people.map { "user \($0.session.userID)" }))
            #expect(subjects.count == 7 && !subjects.contains("user \(unverified.session.userID)"))
        }
    }

    @Test("What was written and not marked is written again; what was marked is not, until its user proves anew")
    func marking() async throws {
        try await Self.run(7) { bench, archive, people in
            let (first, before) = try await Self.lines(archive)
            // The process died here: nothing is lost.
            let (second, again) = try await Self.lines(archive)
            #expect(Self.users(before) == Self.users(again) && first.count == 7)
            #expect(try await archive.mark(second, purging: []) == 7)
            #expect(try await Self.lines(archive).1.isEmpty)
            #expect(try await Self.lines(archive, again: true).1.count == 7)
            let (third, _) = try await Self.lines(archive, again: true)
            #expect(try await archive.mark(third, purging: []) == 7)
            bench.fixture.clock.advance(1)
            _ = try await bench.show(try CardBench.specimen("T64225789", given: "USERE"), people[4])
            bench.fixture.clock.advance(1)
            #expect(Self.users(try await Self.lines(archive).1) == [people[4].session.userID.description])
        }
    }

    @Test("Who proves something while an archive is written stays for the next one")
    func change() async throws {
        try await Self.run(5) { bench, archive, people in
            let (written, lines) = try await Self.lines(archive)
            #expect(lines.count == 5)
            bench.fixture.clock.advance(40)
            let number = "+14155552699"
            let id = try await bench.phones.begin(number, people[1]).id
            let code = bench.phones.code(id, number, people[1])
            #expect(try await bench.phones.verdict(id, code, people[1]) == .right)
            _ = try await bench.show(try CardBench.specimen("T64235787", given: "USERD"), people[3])
            #expect(try await archive.mark(written, purging: []) == 3)
            bench.fixture.clock.advance(1)
            let next = Self.users(try await Self.lines(archive).1)
            #expect(next == [people[1], people[3]].map(\.session.userID.description))
        }
    }

    @Test("Only those verified since the moment are taken, and a damaged row keeps nobody else out")
    func selection() async throws {
        try await Self.run(4) { bench, archive, people in
            let since = bench.fixture.clock.now.addingTimeInterval(-2)
            #expect(
                Self.users(try await Self.lines(archive, since: since).1)
                    == people.suffix(2).map(\.session.userID.description))
            let damaged = people[1].session.userID.description
            try await bench.fixture.store.write {
                try $0.execute(
                    "UPDATE authenticated_users SET full_name = phone_number WHERE user_id = $1", [.text(damaged)])
            }
            let (written, lines) = try await Self.lines(archive)
            #expect(lines.count == 3 && written.unreadable == 1)
            #expect(try await archive.mark(written, purging: [.postalAddress]) == 3)
        }
    }

    @Test("A purge drops what it names from rows and cards, and the document is known again all the same")
    func purge() async throws {
        try await Self.run(2) { bench, archive, people in
            let (written, _) = try await Self.lines(archive)
            #expect(try await archive.mark(written, purging: [.postalAddress, .documentNumber]) == 2)
            let own = try #require(try await bench.fixture.context.readProfile(people[0].session).proved)
            #expect(own.postalAddress == nil && own.documentNumber == nil)
            #expect(own.fullName == "USERA JOHN SAMPLE JR" && own.phoneNumber == Self.number(0))
            let export = try await bench.fixture.context.exportPersonalData(for: people[0].session).json.jsonText
            #expect(!export.contains("BROAD STREET") && !export.contains("T64235780"))
            #expect(export.contains("USERA JOHN SAMPLE JR"))
            let other = try await bench.withPhone("other", "+14155552690")
            let same = try await bench.show(try CardBench.specimen("T64235780"), other)
            #expect(same.status == .inReview)
        }
    }
}
