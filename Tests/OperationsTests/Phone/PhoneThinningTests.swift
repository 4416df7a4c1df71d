import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Texts that are thinned out")
struct PhoneThinningTests {
    /// Trips at the fifth text without a code, and lets two an hour through, one of them from any group.
    private static var policy: Policy {
        var policy = Policy()
        policy.phones.breakerSends = 4
        policy.phones.breakerVerifiedPercent = 22
        (policy.phones.thinnedPerHour, policy.phones.thinnedFirstPerHour) = (1, 2)
        return policy
    }

    private static func number(_ index: Int) -> String { "+1415\(200 + index)2671" }

    private static func ask(_ index: Int, _ bench: PhoneBench) async throws -> Service.StartedPhoneVerification {
        try await bench.begin(
            number(index), try await bench.person("user \(index)"), address: "10.0.\(index).1")
    }

    @Test(
        "Five texts without a code thin out a provider's new accounts; owners and settled accounts go on, an admin lifts"
    )
    func lifecycle() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try PhoneBench(fixture)
            let owner = try await bench.person("owner")
            let proven = try await bench.begin("+14152002672", owner, address: "10.9.9.1")
            #expect(
                try await bench.verdict(proven.id, bench.code(proven.id, "+14152002672", owner), owner) == .right)
            for index in 1..<5 { #expect(try await Self.ask(index, bench).thinned == nil) }
            let name = "provider \(fixture.registration.provider.id) US new"
            let tripped = try await Self.ask(5, bench)
            #expect(tripped.decision == .withhold(.providerThinned, thins: .provider))
            #expect(tripped.thinned == name)
            let through = SendGuard.Decision.send(attributedTo: [], through: [.provider])
            #expect(try await Self.ask(6, bench).decision == through)
            // A second one of the same network comes after other groups.
            let neighbour = try await bench.person("neighbour")
            #expect(
                try await bench.begin(Self.number(60), neighbour, address: "10.0.6.2").decision
                    == .withhold(.providerThinned, thins: nil))
            #expect(try await Self.ask(7, bench).decision == through)
            #expect(try await Self.ask(8, bench).decision == .withhold(.providerThinned, thins: nil))
            fixture.clock.advance(301)
            #expect(
                try await bench.begin("+14152002672", owner, address: "10.0.6.1").decision
                    == .send(attributedTo: [], through: []))
            #expect(
                try await bench.begin(Self.number(61), owner, address: "10.9.9.1").decision
                    == .send(attributedTo: [.provider, .country], through: []))

            let admin = fixture.admin
            #expect(try await admin.listThinnedTexts(limit: 10).map(\.name) == [name])
            #expect(try await admin.listThinnedTexts(limit: 10, after: name).isEmpty)
            await #expect(throws: Refusal(.notFound, "")) {
                try await admin.listThinnedTexts(limit: 10, after: "nobody")
            }
            await #expect(throws: Refusal(.notFound, "")) { try await admin.resumeTexts("country US new") }
            try await admin.resumeTexts(name, reason: "ticket:1")
            #expect(try await admin.listThinnedTexts(limit: 10).isEmpty)
            #expect(try await Self.ask(9, bench).decision == .send(attributedTo: [.provider, .country], through: []))
            let entries = try await fixture.store.read { transaction in
                try transaction.query(
                    "SELECT event, subject, actor FROM audit_entries WHERE event LIKE 'phone_sends%' ORDER BY event"
                ).map { "\(try $0.text(0)) \(try $0.text(1)) \(try $0.text(2))" }
            }
            #expect(
                entries == ["phone_sends_resumed \(name) admin test", "phone_sends_stopped \(name) service"])
        }
    }

    @Test("A solved captcha lets a text of a failing network go first, once, and a wrong one lets none")
    func captcha() async throws {
        var policy = Self.policy
        policy.certification.captchaURL = "https://captcha.example/siteverify"
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            for index in 0..<6 { _ = try await Self.ask(index, bench) }
            func ask(_ index: Int, captcha: String? = nil) async throws -> SendGuard.Decision? {
                try await bench.begin(
                    Self.number(index), try await bench.person("user \(index)"), address: "10.0.5.\(index)",
                    captcha: captcha
                ).decision
            }
            #expect(try await ask(10) == .withhold(.providerThinned, thins: nil))
            await #expect(throws: Refusal(.invalidPresenceProof, "", reason: .captcha)) {
                try await ask(11, captcha: "wrong")
            }
            #expect(try await ask(12, captcha: "solved") == .send(attributedTo: [], through: [.provider]))
            #expect(try await ask(13) == .withhold(.providerThinned, thins: nil))
        }
    }

    @Test("What is thinned out ends by itself after the pause")
    func pause() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try PhoneBench(fixture)
            for index in 0..<4 { _ = try await Self.ask(index, bench) }
            #expect(try await Self.ask(4, bench).thinned != nil)
            fixture.clock.advance(3601)
            #expect(try await fixture.admin.listThinnedTexts(limit: 10).isEmpty)
            #expect(try await Self.ask(5, bench).decision == .send(attributedTo: [.provider, .country], through: []))
            try await fixture.housekeeping()
            let stops = try await fixture.store.read { try $0.query("SELECT subject FROM phone_stops").count }
            #expect(stops == 0)
        }
    }

    @Test(
        "A right code is counted wherever its texts were; what is counted is one row for five minutes, not one a text")
    func counters() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            for index in 0..<9 {
                let person = try await bench.person("user \(index)")
                let number = "+1415555000\(index)"
                let started = try await bench.begin(number, person, address: "10.0.\(index).1")
                #expect(try await bench.verdict(started.id, bench.code(started.id, number, person), person) == .right)
            }
            let rows = try await fixture.store.read { transaction in
                try transaction.query("SELECT counter, sends, verified FROM phone_tallies").map {
                    (counter: try $0.text(0), sends: try $0.integer(1), verified: try $0.integer(2))
                }
            }
            #expect(rows.allSatisfy { $0.sends == $0.verified && $0.sends > 0 })
            for start in ["provider ", "country "] {
                #expect(rows.filter { $0.counter.hasPrefix(start) }.map(\.sends) == [9])
            }
            #expect(!rows.contains { $0.counter.contains("10.0") || $0.counter.contains("1415555") })
            fixture.clock.advance(86_400 + 300)
            try await fixture.housekeeping()
            let left = try await fixture.store.read { transaction in
                (
                    try transaction.query("SELECT counter FROM phone_tallies").count,
                    try transaction.query("SELECT id FROM phone_sends WHERE counters IS NOT NULL").count
                )
            }
            #expect(left == (0, 0))
        }
    }

    @Test("Of many that ask at the same moment no more get through than the policy says")
    func atOnce() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try PhoneBench(fixture)
            for index in 0..<5 { _ = try await Self.ask(index, bench) }
            var people: [PhoneBench.Person] = []
            for index in 0..<12 { people.append(try await bench.person("late \(index)")) }
            let waiting = people
            let sent = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (index, person) in waiting.enumerated() {
                    group.addTask {
                        let decision = try await bench.begin(
                            Self.number(100 + index), person, address: "10.1.\(index).1"
                        ).decision
                        if case .send = decision { return true } else { return false }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(sent == 2)
        }
    }

    @Test(
        "New accounts use an address's texts up for each other, and not for a settled account behind the same address")
    func address() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let settled = try await bench.person("settled")
            let proven = try await bench.begin("+14155552671", settled)
            #expect(
                try await bench.verdict(proven.id, bench.code(proven.id, "+14155552671", settled), settled) == .right)
            // The place of the proof was given back.
            for index in 0..<10 {
                _ = try await bench.begin(Self.number(index), try await bench.person("user \(index)"))
            }
            let late = try await bench.person("late")
            await #expect(throws: Refusal(.rateLimited, "")) { try await bench.begin(Self.number(50), late) }
            #expect(try await bench.begin(Self.number(51), settled).decision != nil)
        }
    }
}
