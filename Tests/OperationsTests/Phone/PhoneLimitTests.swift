import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing
import Tokens

@Suite("Limits on texts")
struct PhoneLimitTests {
    private static let limited = Refusal(.rateLimited, "")

    @Test("One user causes three texts a day to a number, and is told of the fourth")
    func user() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            for _ in 1...3 {
                try await bench.begin("+14155552671", alice)
                fixture.clock.advance(301)
            }
            await #expect(throws: Self.limited) { try await bench.begin("+14155552671", alice) }
            try await bench.begin("+14155552672", alice)
        }
    }

    @Test("The networks of one customer's IPv6 prefix share limits by /56 and by /48")
    func networks() async throws {
        var policy = Policy()
        (policy.phones.sendsPerHourPerSender.per56, policy.phones.sendsPerHourPerSender.per48) = (2, 3)
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            func begin(_ index: Int, _ network: String) async throws {
                let person = try await bench.person("user \(index)")
                try await bench.begin("+1415555267\(index)", person, address: "32.1.13.184.0.1.\(network)/64")
            }
            try await begin(0, "0.0")
            try await begin(1, "0.1")
            await #expect(throws: Self.limited) { try await begin(2, "0.2") }
            try await begin(3, "1.0")
            await #expect(throws: Self.limited) { try await begin(4, "2.0") }
        }
    }

    @Test("Five users' texts use an hour's budget of a number up, and the sixth user sees nothing of it")
    func number() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            for index in 0..<5 {
                try await bench.begin(
                    "+14155552671", try await bench.person("user \(index)"), address: "10.0.\(index).1")
            }
            let sixth = try await bench.person("user 6")
            let started = try await bench.begin("+14155552671", sixth, address: "10.0.6.1")
            #expect(started.decision == .withhold(.numberLimit, thins: nil))
            #expect(started.resendAfter == fixture.clock.now + 30)
            _ = try await bench.deliver()
            #expect(bench.texts.sent.count == 5)
        }
    }

    @Test("A user tries five numbers in thirty days, and an address causes ten texts in an hour")
    func numbersAndAddress() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            for index in 0..<5 { try await bench.begin("+1415555000\(index)", alice) }
            await #expect(throws: Self.limited) {
                try await bench.begin("+14155550009", alice, address: "198.51.100.1")
            }
            let bob = try await bench.person("bob")
            for index in 0..<5 { try await bench.begin("+1415666000\(index)", bob) }
            let carol = try await bench.person("carol")
            await #expect(throws: Self.limited) { try await bench.begin("+14157770000", carol) }
            try await bench.begin("+14157770000", carol, address: "198.51.100.1")
            #expect(try await bench.begin("+14156660000", bob).decision == nil)
        }
    }

    @Test(
        "A prefix that is thinned out is named in the log by its country and a digest, its digits by nothing in the store"
    )
    func stoppedPrefix() async throws {
        var policy = Policy()
        policy.phones.breakerSends = 5
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            for index in 0..<7 {
                try await bench.begin(
                    "+1415555000\(index)", try await bench.person("user \(index)"), address: "10.0.\(index).1")
            }
            let (subjects, keys) = try await fixture.store.read { transaction in
                (
                    try transaction.query("SELECT subject FROM audit_entries WHERE event = 'phone_sends_stopped'")
                        .map { try $0.text(0) },
                    try transaction.query("SELECT key FROM rates").map { try $0.text(0) }
                )
            }
            let subject = try #require(subjects.first)
            #expect(subjects.count == 1 && subject.hasPrefix("prefix US ") && subject.utf8.count == 22)
            #expect(!subject.contains("415"))
            #expect(keys.count { $0.hasPrefix("phone ") } == 7 && !keys.contains { $0.contains("10.0") })
        }
    }

    @Test("A prefix gets as many texts that stay open as policy says, and each right code allows one more")
    func prefix() async throws {
        var policy = Policy()
        policy.phones.unverifiedPerHourPerPrefix = 5
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            var people: [PhoneBench.Person] = []
            for index in 0..<8 { people.append(try await bench.person("user \(index)")) }
            var ids: [PhoneVerificationID] = []
            for index in 0..<5 {
                ids.append(
                    try await bench.begin("+1415555000\(index)", people[index], address: "10.0.\(index).1").id)
            }
            let refused = try await bench.begin("+14155550005", people[5], address: "10.0.5.1")
            #expect(refused.decision == .withhold(.prefixLimit, thins: nil))
            let code = bench.code(ids[0], "+14155550000", people[0])
            #expect(try await bench.verdict(ids[0], code, people[0]) == .right)
            let allowed = try await bench.begin("+14155550006", people[6], address: "10.0.6.1")
            #expect(allowed.decision == .send(attributedTo: [], through: []))
        }
    }

    @Test("A proof of presence is asked for where policy says so, and spends its nonce")
    func presence() async throws {
        var policy = Policy()
        policy.phones.presenceRequired = true
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            let signer = try ProviderSigner(.es256)
            let certified = try await fixture.certify(
                .init(
                    csr: try TestAuthority.certificationRequest(commonName: UUID().uuidString),
                    presenceKey: signer.publicKeyPEM, enrolmentToken: nil, captcha: nil, address: "192.0.2.1"))
            let connection = try await fixture.connect(certified.certificate.thumbprint)
            let alice = try await bench.person("alice", on: connection)
            func proof(_ nonce: String) throws -> String {
                var draft = TokenDraft(contentType: "layer-presence;v=1", algorithm: .es256, kid: nil)
                draft[claim: "nce"] = .string(nonce)
                draft[claim: "iat"] = .integer(Int64(fixture.clock.now.timeIntervalSince1970))
                draft[claim: "method"] = .string("touch_id")
                draft[claim: "phone_sha256"] = .string(Digest256.of("+14155552671").base64URL)
                return try signer.sign(draft)
            }
            func refusal(_ reason: Refusal.Reason) -> Refusal { Refusal(.invalidPresenceProof, "", reason: reason) }
            await #expect(throws: refusal(.missing)) { try await bench.begin("+14155552671", alice) }
            let good = try proof(fixture.context.issueNonce(connection).nonce)
            try await bench.begin("+14155552671", alice, presence: good)
            await #expect(throws: refusal(.nonceUsed)) {
                try await bench.begin("+14155552671", alice, presence: good)
            }
            let foreign = try proof(fixture.context.issueNonce(try await fixture.connectNewDevice()).nonce)
            await #expect(throws: refusal(.nonceOtherDevice)) {
                try await bench.begin("+14155552671", alice, presence: foreign)
            }
            let other = try await bench.person("bob")
            let keyless = try proof(fixture.context.issueNonce(other.connection).nonce)
            await #expect(throws: refusal(.unknownKey)) {
                try await bench.begin("+14155552671", other, presence: keyless)
            }
        }
    }
}
