/// A defect of a text that should be JSON, and its place.
public struct JSONDefect: Error, Sendable, Equatable {
    /// A path such as `$.keys[2].alg`; `$` is the document itself.
    public let path: String
    /// The defect in a few words.
    public let problem: String

    public init(path: String, problem: String) {
        self.path = path
        self.problem = problem
    }
}

/// Parses JSON from outside: UTF-8 only, no duplicate member, nothing after the value, bounded depth, and no long run
/// of combining marks.
///
/// One parser for tokens and request bodies, because RFC 7515 §4 and RFC 7519 §4 leave duplicate members to the
/// parser. Two parsers that disagree on them would permit attacks.
public struct StrictJSON {
    /// Nesting deeper than this is refused.
    static let maximumDepth = 16
    /// More members or elements in one object or array are refused.
    public static let maximumCount = 256

    private let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    private var path: [Step] = []

    /// One step of a path, written out only if it is needed.
    private enum Step {
        case member(String)
        case element(Int)

        var text: String {
            switch self {
            case .member(let name): ".\(name.prefix(64))"
            case .element(let index): "[\(index)]"
            }
        }
    }

    /// Parses a whole document.
    ///
    /// - Throws: ``JSONDefect`` with the path of the first thing that is wrong.
    public static func parse(_ bytes: some Collection<UInt8>) throws(JSONDefect) -> JSONValue {
        let array = Array(bytes)
        let result = array.withUnsafeBufferPointer { buffer -> Result<JSONValue, JSONDefect> in
            var reader = StrictJSON(bytes: buffer)
            do throws(JSONDefect) { return .success(try reader.document()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private mutating func document() throws(JSONDefect) -> JSONValue {
        let value = try self.value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw defect("there is text after the value") }
        return value
    }

    func defect(_ problem: String) -> JSONDefect {
        JSONDefect(path: "$" + path.map(\.text).joined(), problem: problem)
    }

    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value(depth: Int) throws(JSONDefect) -> JSONValue {
        guard depth <= Self.maximumDepth else { throw defect("nested too deeply") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some: return try number()
        case nil: throw defect("ends too early")
        }
    }

    mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONDefect) -> JSONValue {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count else { throw defect("is not JSON") }
        for index in 0..<count where bytes[position + index] != word.utf8Start[index] { throw defect("is not JSON") }
        position += count
        return value
    }

    private mutating func object(depth: Int) throws(JSONDefect) -> JSONValue {
        position += 1
        var members: [JSONMember] = []
        skipSpace()
        if next == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw defect("expected a member name") }
            let name = try string()
            path.append(.member(name))
            guard !members.contains(where: { $0.name.hasSameBytes(as: name) }) else { throw defect("occurs twice") }
            guard members.count < Self.maximumCount else { throw defect("too many members") }
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw defect("expected a colon") }
            position += 1
            members.append(JSONMember(name: name, value: try value(depth: depth + 1)))
            path.removeLast()
            skipSpace()
            switch next {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "}"):
                position += 1
                return .object(members)
            default: throw defect("expected a comma or the end of the object")
            }
        }
    }

    private mutating func array(depth: Int) throws(JSONDefect) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if next == UInt8(ascii: "]") {
            position += 1
            return .array(elements)
        }
        while true {
            path.append(.element(elements.count))
            guard elements.count < Self.maximumCount else { throw defect("too many elements") }
            elements.append(try value(depth: depth + 1))
            path.removeLast()
            skipSpace()
            switch next {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "]"):
                position += 1
                return .array(elements)
            default: throw defect("expected a comma or the end of the array")
            }
        }
    }

    private mutating func number() throws(JSONDefect) -> JSONValue {
        let start = position
        let isWhole = try scanNumber()
        guard position - start <= 32 else { throw defect("a number is too long") }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else { throw defect("a number is out of range") }
        return .number(double)
    }

    /// RFC 8259 §6: no plus sign, no leading zero, digits on both sides of the point.
    ///
    /// - Returns: whether the number has neither fraction nor exponent.
    mutating func scanNumber() throws(JSONDefect) -> Bool {
        let start = position
        var isWhole = true
        if next == UInt8(ascii: "-") { position += 1 }
        let firstDigit = next
        guard skipDigits() > 0 else { throw defect("is not JSON") }
        if firstDigit == UInt8(ascii: "0"), position - start > (bytes[start] == UInt8(ascii: "-") ? 2 : 1) {
            throw defect("a number has a leading zero")
        }
        if next == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            guard skipDigits() > 0 else { throw defect("a number has no digits") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isWhole = false
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            guard skipDigits() > 0 else { throw defect("a number has no digits") }
        }
        return isWhole
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        return position - start
    }

    mutating func string() throws(JSONDefect) -> String {
        let (content, plain) = try scanString()
        let raw = UnsafeBufferPointer(rebasing: bytes[content])
        guard let text = String(validating: raw, as: UTF8.self) else { throw defect("is not UTF-8") }
        let value = plain ? text : try unescape(raw)
        guard value.isStreamSafe else { throw defect("a string has more than 30 combining marks in a row") }
        return value
    }

    /// Finds the end of a string.
    ///
    /// - Returns: where its content is, and whether nothing in it is escaped.
    mutating func scanString() throws(JSONDefect) -> (content: Range<Int>, plain: Bool) {
        position += 1
        let start = position
        var plain = true
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw defect("a string contains a control character") }
            if byte == UInt8(ascii: "\\") {
                plain = false
                position += 1
            }
            position += 1
        }
        guard position < bytes.count else { throw defect("a string is not closed") }
        let content = start..<position
        position += 1
        return (content, plain)
    }

    private func unescape(_ raw: UnsafeBufferPointer<UInt8>) throws(JSONDefect) -> String {
        var units: [UInt8] = []
        units.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\") else {
                units.append(raw[index])
                index += 1
                continue
            }
            let escape = raw[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(escape)
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "t"): units.append(0x09)
            case UInt8(ascii: "u"):
                let scalar = try scalar(raw, &index)
                units.append(contentsOf: String(scalar).utf8)
            default: throw defect("a string contains an unknown escape")
            }
        }
        return String(decoding: units, as: UTF8.self)
    }

    /// Reads the four digits of `\uXXXX`, and the second half of a surrogate pair; a lone surrogate is refused.
    private func scalar(_ raw: UnsafeBufferPointer<UInt8>, _ index: inout Int) throws(JSONDefect) -> Unicode.Scalar {
        let first = try codeUnit(raw, &index)
        if let scalar = Unicode.Scalar(first), !(0xD800...0xDFFF).contains(first) { return scalar }
        guard first < 0xDC00, index + 1 < raw.count, raw[index] == UInt8(ascii: "\\"),
            raw[index + 1] == UInt8(ascii: "u")
        else { throw defect("a string contains half a surrogate pair") }
        index += 2
        let second = try codeUnit(raw, &index)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw defect("a string contains half a surrogate pair") }
        return scalar
    }

    private func codeUnit(_ raw: UnsafeBufferPointer<UInt8>, _ index: inout Int) throws(JSONDefect) -> UInt32 {
        guard index + 4 <= raw.count else { throw defect("an escape ends too early") }
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let byte = raw[index]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw defect("an escape contains a character that is not a hexadecimal digit")
            }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }
}
