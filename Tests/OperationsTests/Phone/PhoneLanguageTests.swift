import Domain
import Fixtures
import Foundation
import Operations
import Testing

@Suite("The language of a text")
struct PhoneLanguageTests {
    @Test(
        "is the first of the person's languages that there is a text in, for the resend too",
        arguments: [("de-AT, en;q=0.5", "de"), ("zh-TW", "zh-hant"), ("en, de", nil), ("sv", nil), ("", nil)]
            as [(String, String?)])
    func accepted(field: String, tag: String?) async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let alice = try await bench.person("alice")
            let started = try await bench.begin(
                "+14155552671", alice, languages: LanguagePreferences(acceptLanguage: field))
            _ = try await bench.deliver()
            fixture.clock.advance(30)
            _ = try await bench.context.resendPhoneCode(
                started.id.description, for: alice.session, address: "192.0.2.1")
            _ = try await bench.deliver()
            let parts = bench.texts.parts
            #expect(parts.map(\.language) == [tag, tag])
            #expect(parts.allSatisfy { $0.app == fixture.registration.provider.name })
        }
    }
}
