import Foundation
import Testing

@testable import Delivery
@testable import Domain

@Suite("Texts by language")
struct TextLanguageTests {
    private static let hash = "FA+9qCX9VSu"

    private static func write(
        _ language: TextLanguage?, app: String = "Forum", host: String = "auth.example",
        _ edit: (inout DeliveryPolicy) -> Void = { _ in }
    ) throws -> String {
        var policy = DeliveryPolicy()
        edit(&policy)
        let text = try VerificationText(policy, language: language, app: app, realm: host, digits: 6)
        return try #require(text.body(code: "012345"))
    }

    private static func fits(_ text: String) -> Bool {
        guard text.utf8.count <= 140 else { return false }
        return SevenBitAlphabet.septets(text).map { $0 <= 140 } ?? (text.utf16.count <= 70)
    }

    @Test("Each fits one part, with the app's name, the code and the line for autofill", arguments: TextLanguage.all)
    func all(language: TextLanguage) throws {
        let text = try Self.write(language)
        #expect(Self.fits(text), "\(text)")
        #expect(text.hasPrefix("Forum"))
        #expect(text.ranges(of: "012345").count == 2)
        #expect(text.hasSuffix("\n\n@auth.example #012345"))
        #expect(language.sentence.ranges(of: "{code}").count == 1 && language.sentence.ranges(of: "{app}").count == 1)
        #expect(PlainText.isPlain(language.sentence, for: .prose))
        #expect(language.sentence.precomposedStringWithCanonicalMapping.utf16.count == language.sentence.utf16.count)
        #expect(text != (try Self.write(nil)))
        let android = try Self.write(language) { $0.androidRetrieverHash = Self.hash }
        #expect(Self.fits(android), "\(android)")
        #expect(android.ranges(of: "012345").count == 2 && !android.contains("Your code"))
    }

    @Test("Those that GSM-7 can write are GSM-7", arguments: ["de", "fr", "es", "pt", "it", "nl", "pl", "tr"])
    func sevenBits(tag: String) throws {
        let language = try #require(TextLanguage(tag: tag))
        #expect(SevenBitAlphabet.septets(try Self.write(language)) != nil)
    }

    @Test("What is too long loses the app's name first, and its language then")
    func shorter() throws {
        let arabic = try #require(TextLanguage(tag: "ar"))
        let long = String(repeating: "Forum ", count: 8)
        let nameless = try Self.write(arabic, app: long)
        #expect(!nameless.contains("Forum") && nameless.contains("رمزك"))
        let host = String(repeating: "a", count: 40) + ".example"
        #expect(try Self.write(arabic, host: host).hasPrefix("Forum: Your code is 012345."))
        #expect(try Self.write(nil, app: "{code}").hasPrefix("Your code is 012345."))
        #expect(try Self.write(nil, app: "مثال").hasPrefix("مثال: Your code is 012345."))
    }

    @Test("The policy has the last word on each")
    func policy() throws {
        let german = try #require(TextLanguage(tag: "de"))
        let own = try Self.write(german) { $0.texts = ["fr {app}: {code}", "de {app}: {code} ist Ihr Code."] }
        #expect(own.hasPrefix("Forum: 012345 ist Ihr Code.\n"))
        let unfit = try Self.write(german) { $0.texts = ["de \(String(repeating: "x", count: 140)) {code}"] }
        #expect(unfit.hasPrefix("Forum: Your code is 012345."))
        for entry in ["de {code}", "ZH-HANT {app} {code}"] { #expect(TextLanguage.isSentence(entry)) }
        for entry in ["", "de", "de none", "de {code} {code}", "xx {code}", "en {code}", "{code}"] {
            #expect(!TextLanguage.isSentence(entry))
        }
    }

    @Test(
        "It is looked up by RFC 4647, from the first language that there is a text in",
        arguments: [
            ("de-AT, en;q=0.8", "de"), ("en-US, de;q=0.8", nil), ("de;q=0.5, fr;q=0.9", "fr"), ("fr;q=0, de", "de"),
            ("zh", "zh-hans"), ("zh-TW", "zh-hant"), ("zh-Hant-CN", "zh-hant"), ("zh-Hans-HK", "zh-hans"),
            ("zh-HK, en", "zh-hant"), ("pt-BR", "pt"), ("de-x-private-a", "de"), ("sv, ja", "ja"), ("*", nil),
            ("sv", nil), ("", nil), ("de_DE", nil), (" TR ; q=1 ", "tr"), ("ru;q=abc, uk", "uk"), ("ko;q=2", nil),
            (String(repeating: "de,", count: 300), nil),
        ] as [(String, String?)])
    func lookup(field: String, tag: String?) {
        #expect(TextLanguage.lookup(LanguagePreferences(acceptLanguage: field))?.tag == tag)
    }

    @Test("A tag that is none is refused")
    func tags() throws {
        #expect(try LanguagePreferences(tag: "pt-BR").ranges == ["pt-BR"])
        for tag in ["", "-", "de-", "de_DE", "ä", "toolongsubtag", String(repeating: "a-", count: 40) + "a"] {
            #expect(throws: Refusal(.malformedRequest, "")) { try LanguagePreferences(tag: tag) }
        }
    }
}
