/// A value of Thrift's binary protocol. It has no names: only the interface has them.
public indirect enum ThriftValue: Sendable, Equatable {
    case bool(Bool)
    case i8(Int8)
    case i16(Int16)
    case i32(Int32)
    case i64(Int64)
    case double(Double)
    /// A text or bytes: the protocol does not distinguish them.
    case bytes([UInt8])
    case list(ThriftType, [ThriftValue])
    case set(ThriftType, [ThriftValue])
    /// The types of keys and values; keys and values alternate.
    case map(ThriftType, ThriftType, [ThriftValue])
    case structure([ThriftField])

    public static func text(_ text: String) -> ThriftValue { .bytes(Array(text.utf8)) }

    var type: ThriftType {
        switch self {
        case .bool: .bool
        case .i8: .i8
        case .i16: .i16
        case .i32: .i32
        case .i64: .i64
        case .double: .double
        case .bytes: .bytes
        case .list: .list
        case .set: .set
        case .map: .map
        case .structure: .structure
        }
    }
}

public struct ThriftField: Sendable, Equatable {
    public let id: Int16
    public let value: ThriftValue

    public init(_ id: Int16, _ value: ThriftValue) { (self.id, self.value) = (id, value) }
}

/// The number of a type in the binary protocol.
public enum ThriftType: UInt8, Sendable, CaseIterable {
    case bool = 2
    case i8 = 3
    case double = 4
    case i16 = 6
    case i32 = 8
    case i64 = 10
    case bytes = 11
    case structure = 12
    case map = 13
    case set = 14
    case list = 15
}

/// A call or its response (Thrift RPC, strict framing).
public struct ThriftMessage: Sendable, Equatable {
    public enum Kind: UInt8, Sendable, CaseIterable {
        case call = 1
        case reply = 2
        /// The call failed: its function or its arguments are unknown.
        case exception = 3
        case oneWay = 4
    }

    public let kind: Kind
    public let name: String
    /// The caller's number, which the response repeats.
    public let sequence: Int32
    public let body: [ThriftField]

    public init(_ kind: Kind, name: String, sequence: Int32, body: [ThriftField]) {
        (self.kind, self.name, self.sequence, self.body) = (kind, name, sequence, body)
    }
}

public enum ThriftDefect: Error, Sendable, Equatable {
    /// The message is cut off, or bytes follow it.
    case length
    /// Unknown version or type, or text that is not UTF-8.
    case content
    /// Nested too deeply, or too many values.
    case tooMuch
}
