import Domain
import Fixtures
import Foundation
import Operations
import PhoneNumbers
import Synchronization
import Testing

@Suite("Development mode")
struct DevelopmentModeTests {
    private static let testNumber = "+12025550142"

    /// What a developer was shown.
    private final class Missing: Sendable {
        private let state = Mutex<[String]>([])
        var causes: [String] { state.withLock { $0 } }
        var mode: DevelopmentMode {
            DevelopmentMode { number, cause in self.state.withLock { $0.append("\(number.e164) \(cause.word)") } }
        }
    }

    @Test("knows the code of the hundred numbers that belong to nobody, and of no other")
    func numbers() {
        for last in 0...99 {
            let number = "+120255501" + String(String(100 + last).suffix(2))
            #expect(
                PhoneCode.ofTestNumber(number, digits: 6)?.matches(PhoneCode.Submitted("000000")) == true, "\(number)")
            #expect(PhoneCode.ofTestNumber(number, digits: 8)?.matches(PhoneCode.Submitted("00000000")) == true)
        }
        for other in [
            "+12025550200", "+12025550099", "+14155550142", "+1202555014", "+120255501420", "12025550142", "",
            "+1202555014a", "+12025550142 ", "+120255501\u{0664}2", "+442025550142",
        ] {
            #expect(PhoneCode.ofTestNumber(other, digits: 6) == nil, "\(other)")
        }
    }

    @Test("proves a test number by zeros, and texts them; any other number has a code of its own")
    func proves() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture, rateLimiting: .off, development: Missing().mode)
            let alice = try await bench.person("alice")
            let test = try await bench.begin(Self.testNumber, alice).id
            let other = try await bench.begin("+14155552671", alice).id
            _ = try await bench.deliver()
            #expect(bench.texts.sent.contains { $0.to == Self.testNumber && $0.code == "000000" })
            let code = bench.code(other, "+14155552671", alice)
            #expect(bench.texts.sent.contains { $0.to == "+14155552671" && $0.code == code })
            #expect(try await bench.verdict(test, bench.code(test, Self.testNumber, alice), alice) == .wrong)
            #expect(try await bench.verdict(test, "000000", alice) == .right)
            #expect(try await bench.verdict(other, "000000", alice) == (code == "000000" ? .right : .wrong))
        }
    }

    @Test("is the only mode in which zeros prove anything")
    func nowhereElse() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture, rateLimiting: .off)
            let alice = try await bench.person("alice")
            let id = try await bench.begin(Self.testNumber, alice).id
            let code = bench.code(id, Self.testNumber, alice)
            #expect(try await bench.verdict(id, "000000", alice) == (code == "000000" ? .right : .wrong))
            #expect(try await bench.verdict(id, code, alice) == .right)
        }
    }

    @Test("says why a text is missing, and proves nothing by zeros without a text")
    func withheld() async throws {
        var policy = Policy()
        policy.phones.countries = ["DE"]
        try await ServiceFixture.run(policy) { fixture in
            let missing = Missing()
            let bench = try PhoneBench(fixture, rateLimiting: .off, development: missing.mode)
            let alice = try await bench.person("alice")
            let id = try await bench.begin(Self.testNumber, alice).id
            #expect(missing.causes == ["\(Self.testNumber) country"])
            #expect(try await bench.verdict(id, "000000", alice) == .wrong)
            _ = try await bench.begin("+4915112345678", alice)
            #expect(missing.causes.count == 1)
            _ = try await bench.begin("+4915112345678", alice)
            #expect(missing.causes.last == "+4915112345678 still_open")
            fixture.clock.advance(30)
            _ = try await bench.context.resendPhoneCode(id.description, for: alice.session, address: "192.0.2.1")
            #expect(missing.causes.last == "\(Self.testNumber) country")
        }
    }
}
