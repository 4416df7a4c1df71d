/// A data item of CBOR (RFC 8949), in the subset of mobile documents and signed barcodes: definite lengths, keys that
/// are numbers or texts, and neither floats nor simple values but `false`, `true` and `null`.
public indirect enum CBORValue: Sendable, Equatable {
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    case bytes(ArraySlice<UInt8>)
    case text(String)
    case array([CBORValue])
    case map([CBORKey: CBORValue])
    case tagged(CBORTag)
    case bool(Bool)
    case null
}

public extension CBORValue {
    /// The value of a key; `nil` if this is not a map or the key is missing.
    subscript(_ key: CBORKey) -> CBORValue? {
        if case .map(let members) = self { members[key] } else { nil }
    }

    /// The number of members of a map; 0 for any other value.
    var count: Int {
        if case .map(let members) = self { members.count } else { 0 }
    }

    /// A number from 0 on; `nil` for any other value.
    var number: UInt64? {
        if case .unsigned(let number) = self { number } else { nil }
    }

    /// The content of a byte string; `nil` for any other value.
    var bytes: ArraySlice<UInt8>? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The content of a text; `nil` for any other value.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The data item inside a byte string with tag 24 (RFC 8949 §3.4.5.1); `nil` if this is anything else.
    var embedded: CBORValue? {
        guard case .tagged(let tag) = self, tag.number == CBORTag.embeddedItem, let bytes = tag.value.bytes else {
            return nil
        }
        return try? CBORReader.read(bytes)
    }

    /// A byte string with tag 24 around a data item.
    static func embedding(_ item: CBORValue) -> CBORValue {
        .tagged(CBORTag(CBORTag.embeddedItem, .bytes(item.encoded[...])))
    }

    /// The elements of an array; `nil` for any other value.
    var elements: [CBORValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// A key of a map: a number or a text. It is compared by its encoded bytes, because texts that nobody has looked at are
/// never compared by canonical equivalence. A key has one encoding only, since the reader refuses every other one.
public struct CBORKey: Sendable, Hashable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    let encoded: [UInt8]

    init(encoded: ArraySlice<UInt8>) {
        self.encoded = Array(encoded)
    }
}

public extension CBORKey {
    init(integerLiteral number: Int64) {
        let value = number < 0 ? CBORValue.negative(UInt64(~number)) : .unsigned(UInt64(number))
        encoded = value.encoded
    }

    init(stringLiteral text: String) {
        self.init(text)
    }

    init(_ text: String) {
        encoded = CBORValue.text(text).encoded
    }

    init(_ number: UInt64) {
        encoded = CBORValue.unsigned(number).encoded
    }

    /// The key as a text; `nil` if it is a number.
    var text: String? { (try? CBORReader.read(encoded[...]))?.text }

    /// The key as a number from 0 on; `nil` if it is a text or a negative number.
    var number: UInt64? { (try? CBORReader.read(encoded[...]))?.number }
}

/// A tagged data item. Signatures and digests are made over its bytes as they came, so it keeps them.
public struct CBORTag: Sendable, Equatable {
    /// The tag of a byte string that contains a data item.
    static let embeddedItem: UInt64 = 24

    public let number: UInt64
    public let value: CBORValue
    /// The bytes of the whole item, from the tag on.
    public let received: ArraySlice<UInt8>

    init(_ number: UInt64, _ value: CBORValue, received: ArraySlice<UInt8>) {
        self.number = number
        self.value = value
        self.received = received
    }

    /// A tag of our own around a value.
    public init(_ number: UInt64, _ value: CBORValue) {
        var writer = CBORWriter()
        writer.append(.tag, number)
        writer.append(value)
        self.init(number, value, received: writer.bytes[...])
    }
}

/// The major types of a data item's first byte (RFC 8949 §3.1).
enum CBORMajorType: UInt8 {
    case unsigned, negative, bytes, text, array, map, tag, simple
}

/// The simple values of the subset (RFC 8949 §3.3).
enum CBORSimple {
    static let isFalse: UInt64 = 20
    static let isTrue: UInt64 = 21
    static let null: UInt64 = 22
}
