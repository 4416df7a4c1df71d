import Encoding
import Fixtures
import Testing

@Suite("CBOR")
struct CBORTests {
    private static func defect(_ hex: String) -> CBORDefect? { defect(of: Hex.bytes(hex)) }

    private static func defect(of bytes: [UInt8], upTo limit: Int = CBORReader.maximumLength) -> CBORDefect? {
        do throws(CBORDefect) { _ = try CBORReader.read(bytes[...], upTo: limit) } catch { return error }
        return nil
    }

    @Test("is read and written as the examples of RFC 8949 say")
    func examples() throws {
        for (hex, value) in CBORVectors.read {
            let bytes = Hex.bytes(hex)
            #expect(try CBORReader.read(bytes[...]) == value, "\(hex)")
            #expect(value.encoded == bytes, "\(hex)")
        }
        for (expected, examples) in CBORVectors.refused {
            for hex in examples { #expect(Self.defect(hex) == expected, "\(hex)") }
        }
    }

    @Test("is refused for each defect by its name")
    func defects() {
        for (hex, expected) in [
            ("", CBORDefect.truncated), ("18", .truncated), ("1903", .truncated), ("42aa", .truncated),
            ("8201", .truncated), ("a101", .truncated), ("c1", .truncated), ("5bffffffffffffffff", .truncated),
            ("9bffffffffffffffff", .truncated), ("bb7fffffffffffffff", .truncated), ("0000", .trailingBytes),
            ("1817", .notShortest), ("1900ff", .notShortest), ("1a0000ffff", .notShortest),
            ("1b00000000ffffffff", .notShortest), ("580100", .notShortest), ("1c", .unsupported),
            ("f814", .unsupported),
            ("ff", .indefiniteLength), ("61ff", .badText), ("62c080", .badText), ("a14000", .badKey),
            ("a1f400", .badKey), ("a1c00000", .badKey), ("a201000101", .duplicateKey),
            ("a2616100616101", .duplicateKey),
        ] {
            #expect(Self.defect(hex) == expected, "\(hex)")
        }
    }

    @Test("is bounded in its length, its depth and its number of items")
    func bounds() {
        let deep = CBORReader.maximumDepth
        #expect(Self.defect(of: [UInt8](repeating: 0x81, count: deep) + [0]) == nil)
        #expect(Self.defect(of: [UInt8](repeating: 0x81, count: deep + 1) + [0]) == .tooDeep)
        #expect(Self.defect(of: [UInt8](repeating: 0xC1, count: 60_000)) == .tooDeep)
        let most = CBORReader.maximumItems - 1
        let head = { (count: Int) in [0x99, UInt8(count >> 8), UInt8(count & 255)] as [UInt8] }
        #expect(Self.defect(of: head(most) + [UInt8](repeating: 0, count: most)) == nil)
        #expect(Self.defect(of: head(most + 1) + [UInt8](repeating: 0, count: most + 1)) == .tooManyItems)
        #expect(Self.defect(of: [0x43, 1, 2, 3], upTo: 4) == nil)
        #expect(Self.defect(of: [0x43, 1, 2, 3], upTo: 3) == .tooLong)
    }

    @Test("has its keys written in the order of their bytes, and read in any order")
    func keys() throws {
        let value = CBORValue.map([100: .null, "z": .null, "aa": .null, 10: .null, -1: .null])
        #expect(value.encoded == Hex.bytes("a50af61864f620f6617af6626161f6"))
        #expect(try CBORReader.read(Hex.bytes("a5617af620f61864f6626161f60af6")[...]) == value)
        #expect(value["aa"] == .null && value[-1] == .null && value["b"] == nil && CBORValue.null[1] == nil)
    }

    @Test("has keys of which two are the same only if their bytes are")
    func canonicalEquivalence() throws {
        // The Kelvin sign is canonically equivalent to K.
        let value = try CBORReader.read(Hex.bytes("a2614b0163e284aa02")[...])
        #expect(value["K"] == .unsigned(1) && value["\u{212A}"] == .unsigned(2))
    }

    @Test("keeps the bytes of a tagged item as they came, in whatever order its keys were")
    func receivedBytes() throws {
        let hex = "82d818a2020001f5f6"
        let value = try CBORReader.read(Hex.bytes(hex)[...])
        guard case .tagged(let tag)? = value.elements?.first else { throw CBORDefect.unsupported }
        #expect(tag.number == 24 && Array(tag.received) == Hex.bytes("d818a2020001f5"))
        #expect(value.encoded == Hex.bytes(hex))
        #expect(CBORTag(24, tag.value).received.elementsEqual(Hex.bytes("d818a201f50200")))
    }

    @Test("that is bent at random is read or refused, and what is read is written again", arguments: 1...4)
    func mutations(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let examples =
            CBORVectors.read.map { Hex.bytes($0.hex) } + CBORVectors.refused.flatMap { $0.hex.map(Hex.bytes) }
        var (read, refused) = (0, 0)
        for _ in 0..<Soak.count(5_000, soak: 250_000) {
            var bytes = examples.randomElement(using: &random) ?? []
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.insert(.random(in: 0...255, using: &random), at: place)
                case 1: bytes.insert(contentsOf: examples.randomElement(using: &random) ?? [], at: place)
                case 2 where place < bytes.count: bytes.remove(at: place)
                default: if place < bytes.count { bytes[place] = .random(in: 0...255, using: &random) }
                }
            }
            let value: CBORValue
            do throws(CBORDefect) {
                value = try CBORReader.read(bytes[...])
            } catch {
                refused += 1
                continue
            }
            read += 1
            #expect(value.encoded.count == bytes.count)
            #expect(try CBORReader.read(value.encoded[...]) == value)
        }
        #expect(read > 50 && refused > 500)
    }
}
