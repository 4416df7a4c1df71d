import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Delivery

@Suite("The text with the code")
struct VerificationTextTests {
    private let hash = "FA+9qCX9VSu"

    @Test("It ends with the line for autofill, Android's hash before it where there is one")
    func form() throws {
        let plain = try VerificationText(DeliveryPolicy(), realm: "auth.example", digits: 6)
        #expect(
            plain.body(code: "012345")
                == "Your code is 012345. Do not share it.\n\n@auth.example #012345")
        var policy = DeliveryPolicy()
        policy.textHost = "other.example"
        policy.androidRetrieverHash = hash
        let android = try VerificationText(policy, realm: "auth.example", digits: 6)
        #expect(
            android.body(code: "012345")
                == "Your code is 012345. Do not share it.\n\n\(hash)\n@other.example #012345")
        for wrong in ["", "12345", "1234567", "12345x", "１２３４５６"] { #expect(plain.body(code: wrong) == nil) }
    }

    @Test("What cannot be sent is refused at the start")
    func refusals() throws {
        func make(
            _ sentence: String = "{code}", host: String = "a.example", digits: Int = 6, hash: String? = nil
        ) throws { _ = try VerificationText(sentence: sentence, host: host, digits: digits, retrieverHash: hash) }
        try make()
        for sentence in ["", "no mark", "{code} {code}", "{code}\nx", "{code}\u{7}"] {
            #expect(throws: DeliveryError.policy("text", expected: "one line with {code} once")) { try make(sentence) }
        }
        for host in ["", ".", "a..b", "-a", "a b", "https://a", "a:1", "é.example", String(repeating: "a", count: 64)] {
            #expect(throws: DeliveryError.self, "\(host)") { try make(host: host) }
        }
        // The sentence names what the operator gave, and both ways out work.
        var policy = DeliveryPolicy()
        let url = "https://auth.example"
        #expect(throws: DeliveryError.realm(url)) { try VerificationText(policy, realm: url, digits: 6) }
        #expect(DeliveryError.realm(url).description.contains(url))
        policy.textHost = "auth.example"
        #expect(throws: Never.self) { try VerificationText(policy, realm: url, digits: 6) }
        for hash in ["", "short", "FA+9qCX9VS=", "FA+9qCX9VSuu"] {
            #expect(throws: DeliveryError.self) { try make(hash: hash) }
        }
        // "{code}", two line feeds, "@a.example #" and twice six digits: 26 of 70 characters.
        try make("{code}" + String(repeating: "Ж", count: 44))
        for long in [
            String(repeating: "Ж", count: 45), "Ж" + String(repeating: "x", count: 44),
            "Ж😀" + String(repeating: "x", count: 42),
        ] {
            #expect(throws: DeliveryError.self, "\(long)") { try make("{code}" + long) }
        }
        // 140 bytes for SMS Retriever, too.
        #expect(throws: DeliveryError.self) { try make("{code}" + String(repeating: "您", count: 39)) }
        // "{code}", two line feeds, "@a.example #" and twice six digits: 26 bytes.
        try make(String(repeating: "x", count: 114) + "{code}")
        #expect(throws: DeliveryError.self) { try make(String(repeating: "x", count: 115) + "{code}") }
        #expect(throws: DeliveryError.self) { try make(String(repeating: "x", count: 113) + "{code}", digits: 7) }
        try make(String(repeating: "€", count: 38) + "{code}")
        #expect(throws: DeliveryError.self) { try make(String(repeating: "€", count: 39) + "{code}") }
        #expect(throws: DeliveryError.self) { try make(String(repeating: "|", count: 58) + "{code}") }
    }

    @Test("Septets are counted as gsm0338 counts them, over every character to U+2FFF and random texts")
    func septets() async throws {
        let single =
            (0x20..<0x3000).compactMap { Unicode.Scalar($0).map { String(Character($0)) } } + ["\n", "\r", "\u{C}"]
        var random = SplitMix64(seed: 3)
        let alphabet = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./09:;<=>?¡AZÄÖÑÜ§¿azäöñüà\u{0C}^{}\\[~]|€"
        let mixed = (0..<500).map { index in random.text(index % 4 == 0 ? alphabet + "êЖ`ç" : alphabet, 0...200) }
        let texts = single + mixed
        let counts = try await judge("Phone/count_septets.py", texts.map { JSONValue.string($0).jsonText })
        try #require(counts.count == texts.count)
        for (text, count) in zip(texts, counts) {
            #expect(SevenBitAlphabet.septets(text) == (count == "-1" ? nil : Int(count)), "\(text.debugDescription)")
        }
    }

    @Test("Whatever text is made, it has at most 140 bytes and ends with the line; whatever is refused would not fit")
    func property() async throws {
        var random = SplitMix64(seed: 11)
        var made: [String] = []
        for _ in 0..<2000 {
            let sentence = random.text("abc {}€é[|", 0...70) + "{code}" + random.text("xyz .~äß", 0...60)
            let host = random.text("abc", 1...20) + ".example"
            let digits = Int.random(in: 4...10, using: &random)
            let android = Bool.random(using: &random) ? hash : nil
            let code = random.text("0123456789", digits...digits)
            let expected =
                sentence.replacing("{code}", with: code) + "\n\n" + (android.map { $0 + "\n" } ?? "")
                + "@\(host) #\(code)"
            let size = max(expected.utf8.count, SevenBitAlphabet.septets(expected) ?? .max)
            do {
                let text = try VerificationText(sentence: sentence, host: host, digits: digits, retrieverHash: android)
                #expect(text.body(code: code) == expected)
                #expect(size <= 140)
                made.append(expected)
            } catch {
                #expect(size > 140)
            }
        }
        #expect(made.count > 200)
        let counts = try await judge("Phone/count_septets.py", made.map { JSONValue.string($0).jsonText })
        #expect(counts.count == made.count && counts.allSatisfy { (0...140).contains(Int($0) ?? -1) })
    }
}
