import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Authority

@Suite("Google's list of revoked attestation certificates")
struct AttestationStatusTests {
    private static func list(_ entries: String) -> AttestationStatusList? {
        AttestationStatusList(Array(#"{"entries": {\#(entries)}}"#.utf8))
    }

    @Test("names serial numbers in hexadecimal, in lower case and without leading zeros")
    func serials() throws {
        let list = try #require(
            Self.list(
                #"""
                "2c8cdddfd5e03bfc": {"status": "REVOKED", "reason": "KEY_COMPROMISE"},
                "10": {"status": "REVOKED", "expires": "2020-11-13"}, "0ABC": {"status": "REVOKED"},
                "not hexadecimal": {"status": "REVOKED"}
                """#))
        #expect(list.contains(["1", "2c8cdddfd5e03bfc"]))
        #expect(list.contains([AttestedSerial.text([0x10])]))
        #expect(list.contains([AttestedSerial.text([0x0A, 0xBC])]))
        #expect(list.contains([AttestedSerial.text([0x00, 0x0A, 0xBC])]))
        // The decimal form of a listed number is another number.
        #expect(!list.contains([AttestedSerial.text([0x0A])]))
        #expect(!list.contains([]))
    }

    @Test("has the same effect for suspended certificates as for revoked ones")
    func suspended() throws {
        let list = try #require(Self.list(#""abc": {"status": "SUSPENDED"}, "abd": {"status": "NEW WORD"}"#))
        #expect(list.contains(["abc"]))
        #expect(list.contains(["abd"]))
    }

    @Test("is an object of entries with a status each, and not too long")
    func form() throws {
        #expect(try #require(Self.list("")).contains(["1"]) == false)
        #expect(Self.list(#""abc": "REVOKED""#) == nil)
        #expect(Self.list(#""abc": {}"#) == nil)
        for text in ["", "[]", "{}", #"{"entries": []}"#, "<html></html>"] {
            #expect(AttestationStatusList(Array(text.utf8)) == nil, "\(text)")
        }
        let spaces = [UInt8](repeating: 0x20, count: AttestationStatusList.maximumLength)
        #expect(AttestationStatusList(Array(#"{"entries": {}}"#.utf8) + spaces) == nil)
    }

    @Test("is read with 100,000 entries")
    func large() throws {
        let entries = (0..<100_000).map { #""\#(String($0 * 7_919, radix: 16))": {"status":"REVOKED"}"# }
        let list = try #require(Self.list(entries.joined(separator: ",")))
        #expect(list.contains([String(99_999 * 7_919, radix: 16)]))
        #expect(!list.contains([String(99_999 * 7_919 + 1, radix: 16)]))
    }
}
