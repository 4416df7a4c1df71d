/// The few forms of DER (ITU-T X.690 §10) that a SubjectPublicKeyInfo needs.
enum DER {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30

    /// Writes one value: tag, shortest length, contents.
    static func encode(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        guard contents.count > 127 else { return [tag, UInt8(contents.count)] + contents }
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }

    /// Writes an unsigned integer given big-endian: no needless zero, one where the first bit would be a sign.
    static func encodeUnsigned(_ magnitude: [UInt8]) -> [UInt8] {
        var digits = Array(magnitude.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return encode(integer, digits)
    }

    /// Reads values one after another; `nil` for another tag, an indefinite length or one beyond the end.
    struct Reader {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: some Collection<UInt8>) {
            rest = ArraySlice(bytes)
        }

        var isAtEnd: Bool { rest.isEmpty }

        /// The contents of the next value, which must have this tag.
        mutating func read(_ tag: UInt8) -> ArraySlice<UInt8>? {
            guard rest.popFirst() == tag, let first = rest.popFirst() else { return nil }
            var length = Int(first)
            if first >= 0x80 {
                length = 0
                let octets = Int(first & 0x7F)
                guard (1...3).contains(octets), rest.count >= octets else { return nil }
                for octet in rest.prefix(octets) { length = length << 8 | Int(octet) }
                rest = rest.dropFirst(octets)
            }
            guard length <= rest.count else { return nil }
            defer { rest = rest.dropFirst(length) }
            return rest.prefix(length)
        }

        /// The magnitude of the next value, an integer that is not negative, without leading zeros.
        mutating func readUnsigned() -> [UInt8]? {
            guard let digits = read(integer), let first = digits.first, first < 0x80 else { return nil }
            return Array(digits.drop { $0 == 0 })
        }
    }
}
