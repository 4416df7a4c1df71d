import Encoding
import Fixtures
import Testing

@Suite("A signed message of COSE")
struct COSESignatureTests {
    /// The example of RFC 8152 §C.2.1 with the key `11` of §C.7.1.
    private static let example = Hex.bytes(
        """
        d28443a10126a10442313154546869732069732074686520636f6e74656e742e58408eb33e4ca31d1c465ab05aac34cc6b23d58fef5c\
        083106c4d25a91aef0b0117e2af9a291aa32e14ab834dc56ed2a223444547e01f11d3b0916e5a4c345cacb36
        """)
    private static let x = Hex.bytes("bac5b11cad8f99f9c72b05cf4b9e26d244dc189f745228255a219a86d6a09eff")
    private static let y = Hex.bytes("20138bf82dc1b6d562be0fa54ab7804a3a64b6d72ccfed6b6fb6ed28bbfc117e")

    private static func defect(_ hex: String) throws -> COSEDefect? {
        let value = try CBORReader.read(Hex.bytes(hex)[...])
        do throws(COSEDefect) { _ = try COSESignature(value) } catch { return error }
        return nil
    }

    private static func key() throws -> PublicKey {
        try PublicKey(coseKey: .map([1: .unsigned(2), -1: .unsigned(1), -2: .bytes(x[...]), -3: .bytes(y[...])]))
    }

    @Test("verifies as the example of the standard says, with and without its tag")
    func example() throws {
        for bytes in [Self.example, Array(Self.example.dropFirst())] {
            let message = try COSESignature(CBORReader.read(bytes[...]))
            let payload = try #require(message.payload)
            #expect(String(decoding: payload, as: UTF8.self) == "This is the content.")
            #expect(message.algorithm == .es256)
            #expect(try message.isValid(by: Self.key(), over: payload))
            #expect(try !message.isValid(by: Self.key(), over: payload.dropLast()))
            #expect(try message.certificates.isEmpty)
        }
    }

    @Test("does not verify with any bit of protected header, payload or signature changed")
    func flips() throws {
        let key = try Self.key()
        var accepted = 0
        for place in Self.example.indices {
            for bit in 0..<8 {
                var bytes = Self.example
                bytes[place] ^= 1 << UInt8(bit)
                guard let value = try? CBORReader.read(bytes[...]), let message = try? COSESignature(value),
                    let payload = message.payload
                else { continue }
                if message.isValid(by: key, over: payload) { accepted += 1 }
            }
        }
        // The 16 bits of the name, and a few of its label and type, which are not signed either.
        #expect((16...24).contains(accepted))
    }

    @Test("is refused for each defect by its name")
    func defects() throws {
        for (hex, expected) in [
            ("8343a10126a040", COSEDefect.shape), ("8443a10126a0f500", .shape), ("8443a10126a0f600", .shape),
            ("8440a0f640", .header), ("844180a0f640", .header), ("844143a0f640", .header),
            ("8443a10126a10126f640", .repeatedLabel), ("8446a20126028101a0f640", .critical),
            ("8443a10126a1028101f640", .critical), ("8441a0a10126f640", .algorithm), ("8443a10127a0f640", .algorithm),
            ("8443a10105a0f640", .algorithm),
        ] {
            #expect(try Self.defect(hex) == expected, "\(hex)")
        }
        for hex in ["8443a10126a0f640", "8443a10128a0f640", "8444a1013822a0f640", "8444a1013832a0f640"] {
            #expect(try Self.defect(hex) == nil, "\(hex)")
        }
    }

    @Test("has one certificate or an array of them, and nothing else")
    func certificates() throws {
        func certificates(_ x5chain: String) throws -> [[UInt8]] {
            try COSESignature(CBORReader.read(Hex.bytes("8443a10126a11821\(x5chain)f640")[...])).certificates
        }
        #expect(try certificates("42aabb") == [[0xAA, 0xBB]])
        #expect(try certificates("8141aa") == [[0xAA]])
        #expect(try certificates("8241aa41bb") == [[0xAA], [0xBB]])
        for wrong in ["80", "8100", "60", "f6"] {
            #expect(throws: COSEDefect.certificates) { try certificates(wrong) }
        }
    }

    @Test("is signed by a key whose form has no private part, and whose point is on its curve")
    func keys() throws {
        let parts: [CBORKey: CBORValue] = [
            1: .unsigned(2), -1: .unsigned(1), -2: .bytes(Self.x[...]), -3: .bytes(Self.y[...]),
        ]
        #expect(try PublicKey(coseKey: .map(parts)).coseKey == .map(parts))
        for (label, value, reason) in [
            (-4, CBORValue.bytes(Self.x[...]), PublicKeyDefect.Reason.privateKey), (1, .unsigned(1), .unsupportedKey),
            (-1, .unsigned(3), .unsupportedKey), (-1, .unsigned(2), .malformed), (-3, .bool(true), .malformed),
            (-3, .bytes(Self.x[...]), .malformed), (-2, .bytes(Self.x.dropLast()), .malformed),
        ] as [(CBORKey, CBORValue, PublicKeyDefect.Reason)] {
            var changed = parts
            changed[label] = value
            #expect { try PublicKey(coseKey: .map(changed)) } throws: { ($0 as? PublicKeyDefect)?.reason == reason }
        }
    }
}
