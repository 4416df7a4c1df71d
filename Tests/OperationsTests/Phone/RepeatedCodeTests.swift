import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("The right code again, since its answer was lost")
struct RepeatedCodeTests {
    private static let number = "+14155552671"

    /// A number that a person has proved, and the code that did it.
    private struct Proved {
        let bench: PhoneBench
        let person: PhoneBench.Person
        let id: PhoneVerificationID
        let code: String

        init(_ bench: PhoneBench, _ person: PhoneBench.Person) async throws {
            (self.bench, self.person) = (bench, person)
            id = try await bench.begin(RepeatedCodeTests.number, person).id
            code = bench.code(id, RepeatedCodeTests.number, person)
            #expect(try await bench.verdict(id, code, person) == .right)
        }

        func again() async throws -> Service.CheckedPhoneVerification {
            try await bench.context.checkPhoneVerification(id.description, code: code, for: person.session)
        }
    }

    @Test("gives the same answer for ten minutes, and changes and records nothing")
    func again() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let proved = try await Proved(bench, try await bench.person("alice"))
            func entries() async throws -> [Int64?] {
                try await fixture.store.read { transaction in
                    try ["audit_entries", "outbox", "authenticated_users"].map {
                        try transaction.first("SELECT COUNT(*) FROM \($0)")?.integer(0)
                    }
                }
            }
            let before = try await entries()
            fixture.clock.advance(599)
            let outcome = try await proved.again()
            try outcome.requireRight()
            #expect(outcome.verdict == .repeated && outcome.assurance == .phone)
            #expect(try await entries() == before)
            fixture.clock.advance(1)
            await #expect(throws: Refusal(.verificationFailed, "")) { try await proved.again().requireRight() }
        }
    }

    @Test("gives it to nobody else, to no other device and for no other code, ten times at most")
    func bounds() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let proved = try await Proved(bench, try await bench.person("alice"))
            let others = [try await bench.person("mallory"), try await bench.person("alice")]
            for other in others {
                #expect(try await bench.verdict(proved.id, proved.code, other) == .notCompared)
            }
            for _ in 0..<4 {
                #expect(try await bench.verdict(proved.id, bench.wrong(proved.code), proved.person) == .notCompared)
            }
            for _ in 0..<5 { #expect(try await proved.again().verdict == .repeated) }
            #expect(try await proved.again().verdict == .notCompared)
        }
    }

    @Test("gives the level of now, and nothing once another user has proved the number")
    func changed() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let proved = try await Proved(bench, try await bench.person("alice"))
            try await fixture.store.write {
                _ = try UserRepository($0).setAssurance(.barcode, until: nil, of: proved.person.session.userID)
            }
            #expect(try await proved.again().assurance == .barcode)
            _ = try await Proved(bench, try await bench.person("bob"))
            await #expect(throws: Refusal(.verificationFailed, "")) { try await proved.again().requireRight() }
        }
    }

    @Test("is refused once the number is banned")
    func banned() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let proved = try await Proved(bench, try await bench.person("alice"))
            _ = try await fixture.store.write { transaction in
                try transaction.execute(
                    "DELETE FROM authenticated_users WHERE user_id = $1",
                    [.text(proved.person.session.userID.description)])
            }
            let bans = try BanBench(fixture)
            try await bans.ban(bans.phone(Self.number))
            await #expect(throws: Refusal(.userBanned, "")) { try await proved.again().requireRight() }
        }
    }
}
