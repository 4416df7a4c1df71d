/// base64url without padding (RFC 4648 §5), the contract's only text form of binary values.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each ASCII byte, 255 if it is outside the alphabet.
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()
}

public extension Base64URL {
    /// Encodes bytes; the result has no padding.
    static func encode(_ bytes: some Collection<UInt8>) -> String {
        let source = Array(bytes)
        return String(unsafeUninitializedCapacity: length(of: source)) { write(source, to: $0) }
    }

    /// Appends the text of bytes to a text in ASCII.
    static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        text += [UInt8](unsafeUninitializedCapacity: length(of: bytes)) { $1 = write(bytes, to: $0) }
    }

    private static func length(of bytes: [UInt8]) -> Int { (bytes.count * 4 + 2) / 3 }

    /// Writes the text of bytes, and gives its length.
    private static func write(_ bytes: [UInt8], to buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        alphabet.withUnsafeBufferPointer { alphabet in
            var position = 0
            func append(_ sextet: UInt32) {
                buffer[position] = alphabet[Int(sextet & 63)]
                position += 1
            }
            let (groups, rest) = bytes.count.quotientAndRemainder(dividingBy: 3)
            for start in stride(from: 0, to: groups * 3, by: 3) {
                let word = UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
                append(word >> 18)
                append(word >> 12)
                append(word >> 6)
                append(word)
            }
            if rest > 0 {
                let word = UInt32(bytes[groups * 3]) << 8 | (rest == 2 ? UInt32(bytes[groups * 3 + 1]) : 0)
                append(word >> 10)
                append(word >> 4)
                if rest == 2 { append(word << 2) }
            }
            return position
        }
    }

    /// Decodes the canonical form only: `nil` for padding, foreign characters and an impossible length. Also `nil` if
    /// trailing bits are not zero, because two texts must never mean the same bytes.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decodeContiguous) ?? Array(text).withUnsafeBufferPointer(decodeContiguous)
    }

    /// Not generic, because a generic loop is not specialized for callers in other targets.
    private static func decodeContiguous(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let (groups, rest) = text.count.quotientAndRemainder(dividingBy: 4)
        guard rest != 1 else { return nil }
        // The bitwise or of all values and of the leftover bits; 64 or more means that the text is invalid.
        var spoiled: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { buffer, count in
            values.withUnsafeBufferPointer { values in
                func value(_ index: Int) -> UInt32 {
                    let value = UInt32(values[Int(text[index])])
                    spoiled |= value
                    return value
                }
                func append(_ byte: UInt32) {
                    buffer[count] = UInt8(truncatingIfNeeded: byte)
                    count += 1
                }
                for start in stride(from: 0, to: groups * 4, by: 4) {
                    let word = value(start) << 18 | value(start + 1) << 12 | value(start + 2) << 6 | value(start + 3)
                    append(word >> 16)
                    append(word >> 8)
                    append(word)
                }
                if rest >= 2 {
                    var word = value(groups * 4) << 12 | value(groups * 4 + 1) << 6
                    if rest == 3 { word |= value(groups * 4 + 2) }
                    append(word >> 10)
                    if rest == 3 { append(word >> 2) }
                    if word & (rest == 2 ? 0x3FF : 0x3) != 0 { spoiled = 255 }
                }
            }
        }
        return spoiled < 64 ? bytes : nil
    }

    /// Decodes the canonical form of a string; `nil` as for bytes.
    static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }
}
