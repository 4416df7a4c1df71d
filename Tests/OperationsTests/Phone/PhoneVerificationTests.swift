import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Proving a phone number")
struct PhoneVerificationTests {
    private static let failed = Refusal(.verificationFailed, "")

    @Test("A text brings the code, the code verifies once, and nothing of it is in the store")
    func flow() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let started = try await bench.begin("+14155552671", alice)
            #expect(started.expiresAt == fixture.clock.now + 300)
            #expect(started.resendAfter == fixture.clock.now + 30)
            #expect(started.digits == 6)
            let due = try await bench.deliver()
            #expect(due == nil)
            #expect(bench.texts.sent.map(\.to) == ["+14155552671"])
            let code = try #require(bench.texts.last)
            #expect(code == bench.code(started.id, "+14155552671", alice))
            let written = try await fixture.store.read { transaction in
                try ["outbox", "phone_verifications", "phone_sends", "phone_failures", "audit_entries"].flatMap {
                    try transaction.query("SELECT * FROM \($0)").map { "\($0)" }
                }
            }
            #expect(written.count >= 3)
            for row in written {
                #expect(!row.contains("4155552671") && !row.contains("\"\(code)\""))
                #expect(!row.contains(Array("4155552671".utf8).map(String.init).joined(separator: ", ")))
            }
            let outcome = try await bench.context.checkPhoneVerification(
                started.id.description, code: code, for: alice.session)
            #expect(outcome.verdict == .right)
            #expect(outcome.assurance == .phone)
            #expect(try await bench.verdict(started.id, code, alice) == .repeated)
        }
    }

    @Test("Wrong, used up, expired, unknown, another user's and another device's code are one and the same answer")
    func oneAnswer() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let mallory = try await bench.person("mallory")
            let aliceElsewhere = try await bench.person("alice")
            let id = try await bench.begin("+14155552671", alice).id
            let code = bench.code(id, "+14155552671", alice)
            var details: Set<String> = []
            func fails(_ id: String, _ code: String, _ person: PhoneBench.Person) async throws {
                let outcome = try await bench.context.checkPhoneVerification(id, code: code, for: person.session)
                let refusal = #expect(throws: Refusal.self) { try outcome.requireRight() }
                #expect(refusal == Self.failed)
                details.insert(refusal?.detail ?? "")
            }
            try await fails(id.description, code, mallory)
            try await fails(id.description, code, aliceElsewhere)
            try await fails(UUID().uuidString, code, alice)
            try await fails("no id", code, alice)
            for _ in 1...5 { try await fails(id.description, bench.wrong(code), alice) }
            try await fails(id.description, code, alice)
            let second = try await bench.begin("+14155552671", alice).id
            #expect(second != id)
            fixture.clock.advance(300)
            try await fails(second.description, bench.code(second, "+14155552671", alice), alice)
            #expect(details.count == 1)
        }
    }

    @Test("Of two hundred wrong guesses at once five are compared, and the right code comes too late after them")
    func parallelWrong() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let id = try await bench.begin("+14155552671", alice).id
            let right = bench.code(id, "+14155552671", alice)
            let verdicts = try await withThrowingTaskGroup(of: PhoneVerification.CheckVerdict.self) { group in
                for _ in 0..<200 { group.addTask { try await bench.verdict(id, bench.wrong(right), alice) } }
                var verdicts: [PhoneVerification.CheckVerdict] = []
                for try await verdict in group { verdicts.append(verdict) }
                return verdicts
            }
            #expect(verdicts.count { $0 == .wrong } == 5)
            #expect(verdicts.count { $0 == .notCompared } == 195)
            #expect(try await bench.verdict(id, right, alice) == .notCompared)
        }
    }

    @Test("Of fifty right codes at once one succeeds")
    func parallelRight() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let id = try await bench.begin("+14155552671", alice).id
            let right = bench.code(id, "+14155552671", alice)
            let successes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 { group.addTask { try await bench.verdict(id, right, alice) == .right } }
                var successes = 0
                for try await isRight in group where isRight { successes += 1 }
                return successes
            }
            #expect(successes == 1)
        }
    }

    @Test("A start for the same number finds the open one, on its device alone, until its checks are used up")
    func repeated() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let elsewhere = try await bench.person("alice")
            let first = try await bench.begin("+14155552671", alice)
            fixture.clock.advance(60)
            let again = try await bench.begin("+14155552671", alice)
            #expect(again.id == first.id)
            #expect(again.expiresAt == first.expiresAt)
            _ = try await bench.deliver()
            #expect(bench.texts.sent.count == 1)
            let other = try await bench.begin("+14155552671", elsewhere).id
            #expect(other != first.id)
            let wrong = bench.wrong(bench.code(first.id, "+14155552671", alice))
            for _ in 1...5 { _ = try await bench.verdict(first.id, wrong, alice) }
            #expect(try await bench.begin("+14155552671", alice).id != first.id)
        }
    }

    @Test("A number that gets no text is answered like any other, and no guess at its code is right")
    func withheld() async throws {
        var policy = Policy()
        policy.phones.countries = ["NO"]
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let started = try await bench.begin("+14155552671", alice)
            #expect(started.decision == .withhold(.country, thins: nil))
            #expect(started.expiresAt == fixture.clock.now + 300)
            #expect(started.resendAfter == fixture.clock.now + 30)
            #expect(try await bench.begin("+14155552671", alice).id == started.id)
            fixture.clock.advance(30)
            #expect(
                try await bench.context.resendPhoneCode(
                    started.id.description, for: alice.session, address: "192.0.2.1"
                ).id
                    == started.id)
            _ = try await bench.deliver()
            #expect(bench.texts.sent.isEmpty)
            let right = bench.code(started.id, "+14155552671", alice)
            #expect(try await bench.verdict(started.id, right, alice) == .wrong)
        }
    }

    @Test("Numbers of other countries and kinds get no text, and the same answer")
    func refusedNumbers() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let cases: [(String, SendGuard.WithheldReason)] = [
                ("+18002255288", .type), ("+19002255288", .type), ("+447911123456", .country),
                ("+37167216821", .country),
            ]
            for (number, reason) in cases {
                let started = try await bench.begin(number, alice)
                #expect(started.decision == .withhold(reason, thins: nil), "\(number)")
                #expect(started.expiresAt == fixture.clock.now + 300)
                #expect(started.resendAfter == fixture.clock.now + 30)
                #expect(started.digits == 6)
            }
            _ = try await bench.deliver()
            #expect(bench.texts.sent.isEmpty)
            #expect(try await bench.fixture.admin.listOutbox(nil, limit: 10).isEmpty)
        }
    }

    @Test("A resend sends the same code, keeps the attempts and the end, and needs its wait")
    func resends() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture, rateLimiting: .off)
            let alice = try await bench.person("alice")
            let mallory = try await bench.person("mallory")
            let started = try await bench.begin("+14155552671", alice)
            let id = started.id.description
            _ = try await bench.deliver()
            let code = try #require(bench.texts.last)
            for _ in 1...4 { _ = try await bench.verdict(started.id, bench.wrong(code), alice) }
            await #expect(throws: Refusal(.rateLimited, "")) {
                try await bench.context.resendPhoneCode(id, for: alice.session, address: "a")
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.resendPhoneCode(id, for: mallory.session, address: "a")
            }
            for wait in [30.0, 60, 120] {
                fixture.clock.advance(wait)
                #expect(
                    try await bench.context.resendPhoneCode(id, for: alice.session, address: "a").expiresAt
                        == started.expiresAt)
                _ = try await bench.deliver()
            }
            #expect(bench.texts.sent.map(\.code) == [code, code, code, code])
            fixture.clock.advance(60)
            await #expect(throws: Refusal(.conflict, "")) {
                try await bench.context.resendPhoneCode(id, for: alice.session, address: "a")
            }
            #expect(try await bench.verdict(started.id, bench.wrong(code), alice) == .wrong)
            #expect(try await bench.verdict(started.id, code, alice) == .notCompared)
        }
    }

    @Test("Twenty wrong codes in a row freeze the user and number for a day, for no one to see but the one")
    func freeze() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture, rateLimiting: .off)
            let alice = try await bench.person("alice")
            func fail(_ number: String, _ rounds: Int) async throws {
                for _ in 0..<rounds {
                    let id = try await bench.begin(number, alice).id
                    let wrong = bench.wrong(bench.code(id, number, alice))
                    for _ in 1...5 { #expect(try await bench.verdict(id, wrong, alice) == .wrong) }
                }
            }
            try await fail("+14155552671", 4)
            let frozen = try await bench.begin("+14155552671", alice)
            #expect(frozen.decision == .withhold(.frozen, thins: nil))
            let right = bench.code(frozen.id, "+14155552671", alice)
            #expect(try await bench.verdict(frozen.id, right, alice) == .notCompared)
            #expect(try await bench.begin("+14155552672", alice).decision == .send(attributedTo: [], through: []))
            let bob = try await bench.person("bob")
            #expect(try await bench.begin("+14155552671", bob).decision == .send(attributedTo: [], through: []))
            fixture.clock.advance(86_400)
            let later = try await bench.begin("+14155552671", try await bench.person("alice", on: alice.connection))
            #expect(later.decision == .send(attributedTo: [], through: []))
        }
    }

    @Test(
        "A code in digits of any script, or in groups, is the right one and costs no attempt",
        arguments: ["full", "arabic", "blank", "dash"])
    func folded(form: String) async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let id = try await bench.begin("tel:+1-415-555-2671", alice).id
            let code = bench.code(id, "+14155552671", alice)
            func digits(from zero: UInt32) -> String {
                String(
                    String.UnicodeScalarView(
                        code.unicodeScalars.compactMap { Unicode.Scalar($0.value - 0x30 + zero) }))
            }
            let typed =
                switch form {
                case "full": digits(from: 0xFF10)
                case "arabic": digits(from: 0x660)
                case "blank": "\(code.prefix(3)) \(code.suffix(3))"
                default: "\(code.prefix(3))-\(code.suffix(3))"
                }
            #expect(try await bench.verdict(id, typed, alice) == .right)
        }
    }
}
