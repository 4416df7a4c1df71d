import Domain
import Encoding
import Foundation
import Testing

@Suite("Text forms")
struct TextFormTests {
    @Test("base64url takes only the one canonical text of some bytes")
    func base64url() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            let text = Base64URL.encode(bytes)
            #expect(
                text
                    == Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                        "=", with: ""))
            #expect(Base64URL.decode(text) == bytes)
        }
        for wrong in ["A", "AB==", "A+", "A/", "AB\n", "AR", "AAB"] {
            #expect(Base64URL.decode(wrong) == nil, "\(wrong)")
        }
    }

    @Test("a PEM document has lines of 64 characters in the standard alphabet, and is parsed again")
    func pem() throws {
        for count in [1, 2, 3, 47, 48, 49, 95, 96, 97, 600] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            let base64 = Array(Data(bytes).base64EncodedString())
            let lines = stride(from: 0, to: base64.count, by: 64).map { String(base64[$0...].prefix(64)) + "\n" }
            let text = PEM.encode(bytes, label: "X Y")
            #expect(text == "-----BEGIN X Y-----\n" + lines.joined() + "-----END X Y-----\n")
            let parsed = try PEM("before -- ---\n" + text + "after")
            #expect(parsed.label == "X Y" && parsed.bytes == bytes)
        }
    }

    @Test(
        "a text with two PEM documents, a part of one or a private key is refused",
        arguments: [
            ("-----BEGIN A-----\nAAAA\n-----END A-----\n-----BEGIN A-----\nAAAA\n-----END A-----", PEM.Defect.notOne),
            ("-----BEGIN A-----\nAAAA\n-----END B-----", .notOne), ("-----BEGIN A-----\nAAAA", .notOne),
            ("-----BEGIN A\nAAAA\n-----END A-----", .notOne), ("-----END A-----\n-----BEGIN A-----\nAAAA", .notOne),
            ("-----BEGIN A-----\n-----END A-----", .notOne), ("-----BEGIN A-----AA\u{301}AA-----END A-----", .notOne),
            ("AAAA", .absent), ("EC PRIVATE KEY-----\u{301}", .privateKey),
            ("-----BEGIN A\u{301}-----\nAAAA\n-----END A\u{301}-----", .notOne),
            (String(repeating: "-", count: PEM.maximumLength + 1), .tooLong),
        ] as [(String, PEM.Defect)])
    func brokenPEM(text: String, defect: PEM.Defect) {
        #expect(throws: defect) { try PEM(text) }
    }

    @Test("base58 keeps the zeros at the start, and has a bound")
    func base58() {
        for (text, bytes) in [
            ("", []), ("1", [0]), ("11233QC4", [0, 0, 0x28, 0x7F, 0xB4, 0xCD]),
            ("2NEpo7TZRRrLZSi2U", Array("Hello World!".utf8)),
        ] as [(String, [UInt8])] {
            #expect(Base58.decode(text) == bytes, "\(text)")
        }
        for wrong in ["0", "O", "I", "l", "2 ", "é", String(repeating: "2", count: Base58.maximumLength + 1)] {
            #expect(Base58.decode(wrong) == nil, "\(wrong)")
        }
    }

    @Test("is compared by its bytes before it is validated, not by canonical equivalence")
    func bytes() {
        // The Kelvin sign is canonically equivalent to K.
        #expect("\u{212A}" == "K" && !"\u{212A}".hasSameBytes(as: "K"))
        #expect("/nonces".hasSameBytes(as: "/nonces") && "/nonces".dropFirst().hasSameBytes(as: "nonces"))
        for other in ["", "/nonce", "/noncet", "/nonces\u{302}"] { #expect(!other.hasSameBytes(as: "/nonces")) }
    }

    @Test("members of JSON have the same name if its bytes are the same (RFC 8259 §8.3)")
    func members() throws {
        let value = try StrictJSON.parse(Array(#"{"K": 1, "\u212A": 2}"#.utf8))
        #expect(value["K"] == .integer(1) && value["\u{212A}"] == .integer(2))
    }

    @Test("more than 30 combining marks in a row are refused, and no time is spent on them")
    func marks() throws {
        func document(_ text: String) throws(JSONDefect) -> JSONValue { try StrictJSON.parse(Array(text.utf8)) }
        let mixed = String(repeating: "\u{302}\u{316}", count: 15)
        #expect(("a" + mixed).isStreamSafe && ("a" + mixed + "b" + mixed).isStreamSafe)
        #expect(!("a" + mixed + "\u{302}").isStreamSafe)
        #expect(try document("{\"a\(mixed)\": \"b\(mixed)\"}")["a" + mixed] == .string("b" + mixed))
        let escaped = String(repeating: #"\u0302\u0316"#, count: 16)
        let long = String(repeating: mixed, count: 1000)
        for text in ["\"a\(long)\"", "{\"a\(long)\": 1, \"a\": 2}", "\"\(escaped)\""] {
            let defect = #expect(throws: JSONDefect.self) { _ = try document(text) }
            #expect(defect?.problem == "a string has more than 30 combining marks in a row")
        }
    }

    @Test("times are written as Foundation writes them")
    func times() {
        let format = Date.ISO8601FormatStyle()
        for seconds in stride(from: -3_000_000_000.0, to: 6_000_000_000, by: 77_777_777) {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(date.rfc3339 == date.formatted(format))
        }
    }

    @Test("a secret shows itself nowhere")
    func secret() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("hunter2"))
    }

    @Test("JSON writes control characters by RFC 8259's short escapes where there is one, and reads its own text back")
    func controlCharacters() throws {
        #expect(JSONValue.string("a\n\r\t\u{8}\u{C}\"\\/").jsonText == #""a\n\r\t\b\f\"\\/""#)
        #expect(JSONValue.string("\u{0}\u{B}\u{1F}\u{7F}").jsonText == "\"\\u0000\\u000b\\u001f\u{7F}\"")
        for scalar in UInt8(0)..<0x80 {
            let value = JSONValue.string(String(UnicodeScalar(scalar)))
            #expect(try StrictJSON.parse(Array(value.jsonText.utf8)) == value)
        }
    }

    @Test(
        "JSON with duplicates, rests, depth or bad text is refused with the path of the defect",
        arguments: [
            ("{\"a\":1,\"a\":2}", "$.a"), ("{} {}", "$"), ("{\"a\":[1,{\"b\":01}]}", "$.a[1].b"), ("\"\\ud800\"", "$"),
            ("[1,]", "$[1]"), ("{\"a\" 1}", "$.a"), ("\"\u{1}\"", "$"), ("nul", "$"), ("", "$"), ("-", "$"),
            ("1.", "$"),
        ])
    func json(text: String, path: String) {
        let defect = #expect(throws: JSONDefect.self) { try StrictJSON.parse(Array(text.utf8)) }
        #expect(defect?.path == path)
    }
}
