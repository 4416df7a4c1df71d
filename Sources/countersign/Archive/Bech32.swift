/// Bech32 (BIP 173), the form of age's public keys: a word, `1`, characters of five bits, and six checksum
/// characters.
enum Bech32 {
    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

    /// Decodes a text in lower case; `nil` if it is malformed, has another word, or its checksum is wrong.
    ///
    /// - Parameter word: the expected human-readable part.
    static func decode(_ text: String, word: String) -> [UInt8]? {
        let bytes = Array(text.utf8)
        let prefix = Array(word.utf8) + [UInt8(ascii: "1")]
        guard bytes.count <= 128, bytes.starts(with: prefix) else { return nil }
        let values = bytes.dropFirst(prefix.count).compactMap { alphabet.firstIndex(of: $0).map(UInt8.init) }
        guard values.count == bytes.count - prefix.count, values.count >= 6,
            checksum(word, values) == 1
        else { return nil }
        return octets(values.dropLast(6))
    }

    /// Regroups five-bit values to bytes. The remaining bits must be zero and fewer than five.
    private static func octets(_ values: some Sequence<UInt8>) -> [UInt8]? {
        var (accumulator, count, octets): (UInt32, UInt32, [UInt8]) = (0, 0, [])
        for value in values {
            accumulator = (accumulator << 5 | UInt32(value)) & 0xFFF
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            octets.append(UInt8(truncatingIfNeeded: accumulator >> count))
        }
        guard count < 5, accumulator & (1 << count - 1) == 0 else { return nil }
        return octets
    }

    /// The remainder over word and values; 1 if the checksum at the end is right.
    private static func checksum(_ word: String, _ values: [UInt8]) -> UInt32 {
        let generator: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]
        var sum: UInt32 = 1
        for value in word.utf8.map({ $0 >> 5 }) + [0] + word.utf8.map({ $0 & 31 }) + values {
            let top = sum >> 25
            sum = (sum & 0x1FF_FFFF) << 5 ^ UInt32(value)
            for (bit, term) in generator.enumerated() where top >> UInt32(bit) & 1 == 1 { sum ^= term }
        }
        return sum
    }
}
