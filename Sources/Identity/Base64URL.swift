/// base64url without padding, RFC 4648 §5: the one text form of binary values in the contract.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each ASCII byte, 255 where it is outside the alphabet.
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()

    /// Encodes bytes; the result has no padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        let source = Array(bytes)
        let length = (source.count * 4 + 2) / 3
        return String(unsafeUninitializedCapacity: length) { buffer in
            var position = 0
            var accumulator: UInt32 = 0
            var bits = 0
            for byte in source {
                accumulator = accumulator << 8 | UInt32(byte)
                bits += 8
                while bits >= 6 {
                    bits -= 6
                    buffer[position] = alphabet[Int(accumulator >> UInt32(bits)) & 63]
                    position += 1
                }
            }
            if bits > 0 {
                buffer[position] = alphabet[Int(accumulator << UInt32(6 - bits)) & 63]
                position += 1
            }
            return position
        }
    }

    /// Decodes the canonical form only: `nil` for padding, foreign characters, an impossible length, and for
    /// trailing bits that are not zero (two texts must never mean the same bytes).
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decodeContiguous) ?? Array(text).withUnsafeBufferPointer(decodeContiguous)
    }

    /// One loop over memory, since a generic one is not specialized for callers in other rooms.
    private static func decodeContiguous(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * 3 / 4)
        var accumulator: UInt32 = 0
        var bits = 0
        for character in text {
            let value = values[Int(character)]
            guard value != 255 else { return nil }
            accumulator = accumulator << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)))
            }
        }
        guard accumulator & ((1 << UInt32(bits)) - 1) == 0 else { return nil }
        return bytes
    }

    /// Decodes the canonical form of a string; `nil` as for bytes.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }
}
