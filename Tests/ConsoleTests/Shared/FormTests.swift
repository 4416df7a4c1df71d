import Crypto
import Encoding
import Foundation
import Testing

@testable import Console

@Suite("A form of the console")
struct FormTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let key = SymmetricKey(size: .bits256)

    private static func tokens(_ certificate: String = "lena", key: SymmetricKey = key) -> FormToken {
        FormToken(key: key, thumbprint: Digest256.of(certificate))
    }

    @Test("is accepted for an hour, from a node whose clock is a little ahead too")
    func lifetime() {
        let token = Self.tokens().issue(for: "/bans", subject: "b1", at: Self.now)
        func accepts(after seconds: TimeInterval) -> Bool {
            Self.tokens().accepts(token, for: "/bans", subject: "b1", at: Self.now + seconds)
        }
        #expect([-60, 0, 3599].map(accepts) == [true, true, true])
        #expect([-61, 3600, 7200].map(accepts) == [false, false, false])
    }

    @Test("is refused with the token of another certificate, path, subject or service, or with none")
    func others() {
        let tokens = Self.tokens()
        let token = tokens.issue(for: "/bans", subject: "b1", at: Self.now)
        func accepts(_ tokens: FormToken, _ text: String, _ path: String = "/bans", _ subject: String = "b1") -> Bool {
            tokens.accepts(text, for: path, subject: subject, at: Self.now)
        }
        #expect(accepts(tokens, token))
        #expect(!accepts(Self.tokens("ben"), token))
        #expect(!accepts(Self.tokens(key: SymmetricKey(size: .bits256)), token))
        #expect(!accepts(tokens, token, "/ban") && !accepts(tokens, token, "/bans", "b2"))
        // The same bytes, divided differently.
        #expect(!accepts(tokens, token, "/bansb", "1") && !accepts(tokens, token, "/bansb1", ""))
        let changed = (token.first == "A" ? "B" : "A") + token.dropFirst()
        for text in ["", changed, String(token.dropLast()), token + "A", String(repeating: "A", count: 54)] {
            #expect(!accepts(tokens, text), "\(text)")
        }
    }

    @Test("has its token, an id, and a label for each input, and escapes every value")
    func markup() {
        let value = "\"\u{301} onfocus=x></form>"
        let form = Form(
            to: PagePath("/users").appending(value), token: "t1", operationID: "o1",
            [
                .text(name: "reason", label: "Reason", hint: value, value: value, isRequired: true),
                .note(name: "note", label: value, hint: nil),
                .choice(
                    name: "scope", label: "Scope", options: [("all", "All"), (value, value)], chosen: value),
                .checkbox(name: "devices", label: "Devices too"), .hidden(name: "user", value: value),
            ], submit: value, isDangerous: true)
        let text = String(decoding: form.markup.bytes, as: UTF8.self)
        #expect(text.matches(of: /<form method="post" action="\/users\/[^"<>]+"\s/).count == 1)
        #expect(
            text.contains("name=\"form_token\" value=\"t1\"") && text.contains("name=\"operation_id\" value=\"o1\""))
        #expect(text.matches(of: /<label for="/).count == 4 && text.matches(of: /<\/form>/).count == 1)
        #expect(text.matches(of: /\sselected>/).count == 1 && text.matches(of: /\srequired>/).count == 1)
        #expect(text.matches(of: /aria-describedby="reason-hint"/).count == 1)
        #expect(!text.contains(/"[^\s">a-z&;=\/]* onfocus/))
        // Every quote of the value is escaped: quotes come in pairs.
        #expect(text.utf8.count { $0 == UInt8(ascii: "\"") }.isMultiple(of: 2))
    }
}
