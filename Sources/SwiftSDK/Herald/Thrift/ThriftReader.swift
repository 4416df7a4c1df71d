/// Parses Thrift's strict binary protocol from untrusted bytes: no memory is reserved for announced content.
public struct ThriftReader {
    /// The deepest nesting of structures and collections.
    static let maximumDepth = 16
    /// The largest number of values in a message.
    public static let maximumValues = 4096
    /// The longest name of a function, in bytes.
    private static let longestName = 128
    private static let version: UInt32 = 0x8001_0000

    private var bytes: ArraySlice<UInt8>
    private var values = 0
    private let maximumValues: Int

    private init(_ bytes: ArraySlice<UInt8>, _ maximumValues: Int) {
        (self.bytes, self.maximumValues) = (bytes, maximumValues)
    }

    /// Parses bytes that must be exactly one message.
    public static func message(
        _ bytes: [UInt8], maximumValues: Int = Self.maximumValues
    ) throws(ThriftDefect) -> ThriftMessage {
        var reader = ThriftReader(bytes[...], maximumValues)
        let first: UInt32 = try reader.number()
        guard first & 0xFFFF_0000 == version, first & 0xFF00 == 0,
            let kind = ThriftMessage.Kind(rawValue: UInt8(first & 0xFF))
        else { throw .content }
        let nameBytes = try reader.text()
        guard nameBytes.count <= longestName, let name = String(validating: nameBytes, as: UTF8.self) else {
            throw .content
        }
        let sequence = Int32(bitPattern: try reader.number())
        let body = try reader.fields(0)
        guard reader.bytes.isEmpty else { throw .length }
        return ThriftMessage(kind, name: name, sequence: sequence, body: body)
    }

    private mutating func take(_ count: Int) throws(ThriftDefect) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count else { throw .length }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    private mutating func number<Number: FixedWidthInteger & UnsignedInteger>() throws(ThriftDefect) -> Number {
        Number(bigEndian: try take(Number.bitWidth / 8))
    }

    private mutating func text() throws(ThriftDefect) -> [UInt8] {
        Array(try take(Int(Int32(bitPattern: try number()))))
    }

    private mutating func type() throws(ThriftDefect) -> ThriftType {
        guard let type = ThriftType(rawValue: try number()) else { throw .content }
        return type
    }

    private mutating func fields(_ depth: Int) throws(ThriftDefect) -> [ThriftField] {
        guard depth < Self.maximumDepth else { throw .tooMuch }
        var fields: [ThriftField] = []
        while true {
            let kind: UInt8 = try number()
            if kind == 0 { return fields }
            guard let type = ThriftType(rawValue: kind) else { throw .content }
            let id = Int16(bitPattern: try number())
            fields.append(ThriftField(id, try value(type, depth + 1)))
        }
    }

    private mutating func value(_ type: ThriftType, _ depth: Int) throws(ThriftDefect) -> ThriftValue {
        values += 1
        guard values <= maximumValues, depth < Self.maximumDepth else { throw .tooMuch }
        switch type {
        case .bool:
            let byte: UInt8 = try number()
            guard byte <= 1 else { throw .content }
            return .bool(byte == 1)
        case .i8: return .i8(Int8(bitPattern: try number()))
        case .i16: return .i16(Int16(bitPattern: try number()))
        case .i32: return .i32(Int32(bitPattern: try number()))
        case .i64: return .i64(Int64(bitPattern: try number()))
        case .double: return .double(Double(bitPattern: try number()))
        case .bytes: return .bytes(try text())
        case .structure: return .structure(try fields(depth))
        case .list:
            let element = try self.type()
            return .list(element, try elements([element], depth))
        case .set:
            let element = try self.type()
            return .set(element, try elements([element], depth))
        case .map: return try map(depth)
        }
    }

    private mutating func map(_ depth: Int) throws(ThriftDefect) -> ThriftValue {
        // Some writers omit the types of empty maps.
        let (key, value): (UInt8, UInt8) = (try number(), try number())
        if key == 0, value == 0, bytes.prefix(4).elementsEqual([0, 0, 0, 0]) {
            _ = try take(4)
            return .map(.bytes, .bytes, [])
        }
        guard let key = ThriftType(rawValue: key), let value = ThriftType(rawValue: value) else { throw .content }
        return .map(key, value, try elements([key, value], depth))
    }

    /// Parses a counted list; its elements have the given types in turn.
    private mutating func elements(_ types: [ThriftType], _ depth: Int) throws(ThriftDefect) -> [ThriftValue] {
        let count = Int32(bitPattern: try number())
        guard count >= 0 else { throw .length }
        guard count <= maximumValues else { throw .tooMuch }
        var elements: [ThriftValue] = []
        for _ in 0..<count {
            for type in types { elements.append(try value(type, depth + 1)) }
        }
        return elements
    }
}
