/// Writes CBOR in its deterministic encoding (RFC 8949 §4.2.1): shortest heads, and keys in the order of their bytes.
struct CBORWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: CBORValue) {
        switch value {
        case .unsigned(let number): append(.unsigned, number)
        case .negative(let number): append(.negative, number)
        case .bytes(let content):
            append(.bytes, UInt64(content.count))
            bytes += content
        case .text(let text):
            append(.text, UInt64(text.utf8.count))
            bytes += text.utf8
        case .array(let elements):
            append(.array, UInt64(elements.count))
            for element in elements { append(element) }
        case .map(let members):
            append(.map, UInt64(members.count))
            for (key, value) in members.sorted(by: { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) }) {
                bytes += key.encoded
                append(value)
            }
        // As it came: what is signed about it are its bytes.
        case .tagged(let tag): bytes += tag.received
        case .bool(let isTrue): append(.simple, isTrue ? CBORSimple.isTrue : CBORSimple.isFalse)
        case .null: append(.simple, CBORSimple.null)
        }
    }

    /// The first byte of an item, and the argument after it if it does not fit into the byte.
    mutating func append(_ type: CBORMajorType, _ argument: UInt64) {
        let width =
            switch argument {
            case ..<24: 0
            case ..<(1 << 8): 1
            case ..<(1 << 16): 2
            case ..<(1 << 32): 4
            default: 8
            }
        let short: UInt8 =
            switch width {
            case 0: UInt8(truncatingIfNeeded: argument)
            case 1: 24
            case 2: 25
            case 4: 26
            default: 27
            }
        bytes.append(type.rawValue << 5 | short)
        for place in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: argument >> (8 * UInt64(place)))) }
    }
}

public extension CBORValue {
    /// The deterministic encoding. Tagged items are written as they were received.
    var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.append(self)
        return writer.bytes
    }
}
