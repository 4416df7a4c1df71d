import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Cards

@Suite("The verification of an issuer's signature")
struct SignatureVerificationTests {
    private static let key = PublishedBarcode.californianKey

    private func assess(_ text: String, keys: [String] = [key]) throws -> CardAssessment {
        var policy = CardPolicy()
        policy.barcodeKeys = keys
        return CardAssessment(
            try .read(barcode: Array(text.utf8), today: today), at: today.noon, policy: policy, displayName: nil)
    }

    private func state(_ text: String, keys: [String] = [key]) throws -> IssuerSignature.State {
        try assess(text, keys: keys).issuerSignature.state
    }

    private func california(_ changes: KeyValuePairs<String, String>) throws -> String {
        var text = PublishedBarcode.california
        for (old, new) in changes {
            try #require(text.contains(old), "\(old)")
            text = text.replacing(old, with: new)
        }
        return text
    }

    @Test("accepts the driving licence in the specification's test vectors, and no other data under its signature")
    func specification() throws {
        let card = try AAMVACard.read(PublishedBarcode.utopia).identityCard
        let bytes = try #require(card.issuerSignature.credential)
        let credential = try #require(SignedCredential(bytes, tables: PublishedBarcode.utopianTable))
        let multikey = try #require(Base58.decode(PublishedBarcode.utopianKey.dropFirst()))
        let key = try P256.Signing.PublicKey(compressedRepresentation: multikey.dropFirst(2))
        #expect(credential.isSigned(by: key, over: Array("DACJOHN\nDAQF987654321\nDCSSMITH\n".utf8)))
        for other in ["", "DACJOHN\nDAQ987654321\nDCSSMITH\n", "DACJOHN\nDAQF987654321\nDCSSMITH"] {
            #expect(!credential.isSigned(by: key, over: Array(other.utf8)))
        }
        let another = P256.Signing.PrivateKey().publicKey
        #expect(!credential.isSigned(by: another, over: Array("DACJOHN\nDAQF987654321\nDCSSMITH\n".utf8)))
        // The example protects three elements, and its table is not one of an issuer's.
        #expect(SignedCredential(bytes) == nil)
    }

    @Test("accepts the example of the California DMV, with the key pinned")
    func california() throws {
        let assessment = try assess(PublishedBarcode.california)
        #expect(assessment.issuerSignature.state == .verified)
        #expect(assessment.result(.issuerSignature) == .passed && assessment.verdict == .accepted)
        #expect(try state(california(["ZCE2csd": "ZZA2csd"])) == .verified)
    }

    @Test("is left undone without the key that the credential names")
    func unpinned() throws {
        for keys in [[], [Self.key.replacing("#vm-vcb-1", with: "#vm-vcb-2")], ["nonsense"]] {
            let assessment = try assess(PublishedBarcode.california, keys: keys)
            #expect(assessment.issuerSignature.state == .present)
            #expect(assessment.result(.issuerSignature) == .notApplicable && assessment.verdict == .accepted)
        }
    }

    @Test("refuses a signature by another key, for another state, or for other data")
    func invalid() throws {
        let multikey: [UInt8] = [0x80, 0x24] + P256.Signing.PrivateKey().publicKey.compressedRepresentation
        let name = Self.key.split(separator: " ").dropLast().joined(separator: " ")
        for key in ["\(name) z\(Base58Text.encode(multikey))", Self.key.replacing("CA did", with: "NV did")] {
            #expect(try state(PublishedBarcode.california, keys: [key]) == .invalid)
        }
        #expect(try state(california(["ANSI 636014": "ANSI 636000", "ZCE2csd": "ZZA2csd"])) == .invalid)
        for (old, new) in [
            ("DACTOMTEST", "DACTIMTEST"), ("DCSFIVENINE", "DCSFIVETEN"), ("DAQI8887059", "DAQI8887058"),
            ("DBB01011980", "DBB01011979"), ("DBA01012030", "DBA01012031"), ("DAK958180000  ", "DAK958180000"),
            ("DAG2415", "DAG2416"), ("DBC1\n", "DBC1\nDACEVE\n"), ("DADNONE\n", ""), ("DADNONE", "DADNONE "),
        ] {
            let assessment = try assess(california([old: new]))
            #expect(assessment.issuerSignature.state == .invalid, "\(new)")
            #expect(assessment.result(.issuerSignature) == .failed, "\(new)")
        }
    }

    @Test("lets an issuer's unsigned elements vary, but no element that names the holder or the document")
    func unsigned() throws {
        #expect(try state(california(["DBD08052025": "DBD08062025", "DAW200": "DAW201"])) == .verified)
        for (old, new) in [
            ("DCUIV", "DCUROBERT"), ("DCUIV", "DCUIV\nDAAELSE,EVE"), ("DCUIV", "DCUIV\nDCTEVE"),
            ("DCUIV", "DCUIV\nDABELSE"), ("DCUIV", "DCUIV\nDBJI1234567"),
        ] {
            #expect(try state(california([old: new])) == .present, "\(new)")
        }
        let first = try california(["ANSI 63601410": "ANSI 63601401", "DCUIV": "DCUIV\nDAAELSE,EVE"])
        #expect(try AAMVACard.read(first).identityCard.name.family == "ELSE")
        #expect(try state(first) == .present)
    }

    @Test("accepts no credential in which a bit is another one")
    func flips() throws {
        let card = try AAMVACard.read(PublishedBarcode.california).identityCard
        let bytes = try #require(card.issuerSignature.credential)
        let text = Data(bytes).base64EncodedString()
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << bit
                let barcode = try california([text: Data(changed).base64EncodedString()])
                #expect(try state(barcode) != .verified, "byte \(place), bit \(bit)")
            }
        }
    }

    @Test("takes keys in the form of an issuer's DID document alone")
    func keys() {
        #expect(BarcodeKey(Self.key) != nil)
        let parts = Self.key.split(separator: " ").map(String.init)
        for text in [
            "", "CA", Self.key + " ", " " + Self.key, Self.key.replacing(" ", with: "  "),
            Self.key.replacing("CA ", with: "XX "), Self.key.replacing("did:", with: "https:"),
            "\(parts[0]) \(parts[1]) \(parts[2].dropFirst())", "\(parts[0]) \(parts[1]) \(parts[2].dropLast())",
            "\(parts[0]) \(parts[1]) z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        ] {
            #expect(BarcodeKey(text) == nil, "\(text)")
        }
    }
}

/// Writes base58, which the service only reads.
private enum Base58Text {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
        var digits: [Int] = []
        for byte in bytes {
            var carry = Int(byte)
            for place in digits.indices {
                carry += digits[place] << 8
                (carry, digits[place]) = carry.quotientAndRemainder(dividingBy: 58)
            }
            while carry > 0 {
                digits.append(carry % 58)
                carry /= 58
            }
        }
        return String(digits.reversed().map { alphabet[$0] })
    }
}
