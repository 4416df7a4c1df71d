/// Why some bytes are not a data item of the subset.
public enum CBORDefect: Error, Sendable, Equatable {
    case tooLong, truncated, trailingBytes, tooDeep, tooManyItems, indefiniteLength, notShortest, unsupported
    case badText, badKey, duplicateKey
}

/// Reads CBOR from outside: one data item and nothing after it, with bounds on size, depth and number of items.
///
/// Every length is written in its shortest form, so a value has one encoding but for the order of keys. Issuers do not
/// sort their keys, so their order is free.
public struct CBORReader {
    private let input: ArraySlice<UInt8>
    private var position: Int
    private var items = 0

    private init(_ input: ArraySlice<UInt8>) {
        self.input = input
        position = input.startIndex
    }
}

public extension CBORReader {
    /// Longer input is refused unless the caller allows more.
    static let maximumLength = 65_536
    /// Deeper nesting is refused. Byte strings that contain CBOR are read by themselves.
    static let maximumDepth = 16
    /// Input with more data items is refused. Keys are items too.
    static let maximumItems = 10_000

    /// Reads the one data item that the input consists of.
    ///
    /// - Parameter limit: the longest input that is read, bytes.
    static func read(
        _ input: ArraySlice<UInt8>, upTo limit: Int = maximumLength
    ) throws(CBORDefect) -> CBORValue {
        guard input.count <= limit else { throw .tooLong }
        var reader = CBORReader(input)
        let value = try reader.item(depth: 0)
        guard reader.position == input.endIndex else { throw .trailingBytes }
        return value
    }

    private var remaining: Int { input.endIndex - position }

    private mutating func item(depth: Int) throws(CBORDefect) -> CBORValue {
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        guard items < Self.maximumItems else { throw .tooManyItems }
        items += 1
        let start = position
        let (type, argument) = try head()
        switch type {
        case .unsigned: return .unsigned(argument)
        case .negative: return .negative(argument)
        case .bytes: return .bytes(try take(argument))
        case .text: return .text(try text(argument))
        case .array: return .array(try array(argument, depth: depth))
        case .map: return .map(try map(argument, depth: depth))
        case .tag:
            let value = try item(depth: depth + 1)
            return .tagged(CBORTag(argument, value, received: input[start..<position]))
        case .simple:
            switch argument {
            case CBORSimple.isFalse: return .bool(false)
            case CBORSimple.isTrue: return .bool(true)
            case CBORSimple.null: return .null
            default: throw .unsupported
            }
        }
    }

    private mutating func array(_ argument: UInt64, depth: Int) throws(CBORDefect) -> [CBORValue] {
        let count = try count(argument)
        var elements: [CBORValue] = []
        for _ in 0..<count { elements.append(try item(depth: depth + 1)) }
        return elements
    }

    private mutating func map(_ argument: UInt64, depth: Int) throws(CBORDefect) -> [CBORKey: CBORValue] {
        let count = try count(argument)
        var members: [CBORKey: CBORValue] = [:]
        for _ in 0..<count {
            let start = position
            switch try item(depth: depth + 1) {
            case .unsigned, .negative, .text: break
            default: throw .badKey
            }
            let key = CBORKey(encoded: input[start..<position])
            guard members.updateValue(try item(depth: depth + 1), forKey: key) == nil else { throw .duplicateKey }
        }
        return members
    }

    /// The major type and the argument (RFC 8949 §3). The argument of a simple value is its number.
    private mutating func head() throws(CBORDefect) -> (CBORMajorType, UInt64) {
        let first = try byte()
        guard let type = CBORMajorType(rawValue: first >> 5) else { throw .unsupported }
        let width: Int
        let least: UInt64
        switch first & 0x1F {
        case let small where small < 24: return (type, UInt64(small))
        case 24: (width, least) = (1, 24)
        case 25: (width, least) = (2, 1 << 8)
        case 26: (width, least) = (4, 1 << 16)
        case 27: (width, least) = (8, 1 << 32)
        case 31: throw .indefiniteLength
        default: throw .unsupported
        }
        // Floats, and simple values that have no meaning here.
        guard type != .simple else { throw .unsupported }
        var argument: UInt64 = 0
        for _ in 0..<width { argument = argument << 8 | UInt64(try byte()) }
        guard argument >= least else { throw .notShortest }
        return (type, argument)
    }

    private mutating func byte() throws(CBORDefect) -> UInt8 {
        guard remaining > 0 else { throw .truncated }
        defer { position += 1 }
        return input[position]
    }

    private mutating func take(_ length: UInt64) throws(CBORDefect) -> ArraySlice<UInt8> {
        let end = position + (try count(length))
        defer { position = end }
        return input[position..<end]
    }

    private mutating func text(_ length: UInt64) throws(CBORDefect) -> String {
        guard let text = String(validating: try take(length), as: UTF8.self), text.isStreamSafe else { throw .badText }
        return text
    }

    /// A length or number of items. Each takes at least a byte, so a number above the rest of the input is never begun.
    private func count(_ argument: UInt64) throws(CBORDefect) -> Int {
        guard let count = Int(exactly: argument), count <= remaining else { throw .truncated }
        return count
    }
}
