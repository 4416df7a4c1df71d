import Encoding
import Fixtures
import Testing

/// The samples were made by zlib 1.2.13 at level 9, the stored one at level 0.
@Suite("Decompression")
struct InflateTests {
    /// 600 bytes with codes of their own.
    private static let dynamic = Hex.bytes(
        """
        78da5d518911c3300c12770cc6fe53d5424fd52617dbc108231c8a080039be4f392614c11e01af70a09cf560b30b4f524eae979a4ca349\
        a35c482b29255c4a3e2e4cd7e897669928eca922f6e1eee5a9ef4592143f8f9a289fd650f9e5b6780e21780e9c925bee5f79cf65e29f53\
        adf7d8fe62326db12cfb2659615ccb2f06298e13df8e97eb4fbd57c62633b7800950dd6febcaa0a32abdafca88c0ade95a665ff5ed01d3\
        c55a24b419b0a98c0f4cc510d1
        """)

    private static func defect(_ bytes: some Collection<UInt8>, upTo limit: Int = 4096) -> InflateDefect? {
        do throws(InflateDefect) { _ = try Inflate.zlib(ArraySlice(bytes), upTo: limit) } catch { return error }
        return nil
    }

    @Test("gives what was compressed, in blocks of every kind")
    func samples() throws {
        #expect(try Inflate.zlib(Hex.bytes("78da030000000001")[...], upTo: 0).isEmpty)
        let stored = Hex.bytes("7801012800d7ff") + Array(0..<40) + Hex.bytes("29cc030d")
        #expect(try Inflate.zlib(stored[...], upTo: 40) == Array(0..<40))
        let fixed = try Inflate.zlib(Hex.bytes("78da4b4cc40e929201851d09de")[...], upTo: 100)
        #expect(String(decoding: fixed, as: UTF8.self) == String(repeating: "a", count: 24) + "bc")
        let bytes = try Inflate.zlib(Self.dynamic[...], upTo: 600)
        #expect(bytes.count == 600)
        #expect(
            Digest256.of(bytes).bytes
                == Hex.bytes("4f37125914a50458c902ac983e5d1ab31c7e58b0b9bc3fc96d2b443115e210d8"))
    }

    @Test("ends at the bound, before more is allocated")
    func bound() {
        #expect(Self.defect(Self.dynamic, upTo: 599) == .tooLong)
        #expect(Self.defect(Hex.bytes("7801012800d7ff") + Array(0..<40) + Hex.bytes("29cc030d"), upTo: 39) == .tooLong)
        #expect(Self.defect(Hex.bytes("78da4b4cc40e929201851d09de"), upTo: 24) == .tooLong)
    }

    @Test("refuses every input that is cut off, and anything after the end")
    func truncation() {
        for length in Self.dynamic.indices { #expect(Self.defect(Self.dynamic.prefix(length)) == .truncated) }
        #expect(Self.defect(Self.dynamic + [0]) == .trailingBytes)
    }

    @Test("refuses each defect by its name")
    func defects() {
        for (hex, expected) in [
            ("79da030000000001", InflateDefect.header), ("78db030000000001", .header), ("88da030000000001", .header),
            // A preset dictionary.
            ("78bb0000000003000000000001", .header),
            ("78da070000000001", .block), ("78da012800d8ff", .block), ("78da030000000002", .checksum),
        ] {
            #expect(Self.defect(Hex.bytes(hex)) == expected, "\(hex)")
        }
        // Literals without an end of the block, and lengths that are more than a code can have.
        #expect(Self.defect(Hex.bytes("78da0500000000000000000000000000000000")) == .code)
        #expect(Self.defect(Hex.bytes("78da04c0ffffffffffffffffffffffffffffff")) == .code)
    }

    @Test("with a bit changed gives a defect, never other bytes", arguments: Soak.seeds(2, soak: 70))
    func flips(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let original = try Inflate.zlib(Self.dynamic[...], upTo: 600)
        for _ in 0..<3_000 {
            var bytes = Self.dynamic
            let changes = Int.random(in: 1...3, using: &random)
            for _ in 0..<changes {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            guard let output = try? Inflate.zlib(bytes[...], upTo: 4096) else { continue }
            // Adler-32 is no signature: several changes can leave the sum as it was, about once in 100,000.
            #expect(output == original || changes > 1 && output.count <= 4096)
        }
    }
}
