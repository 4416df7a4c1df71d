/// The members of a JSON object, each parsed when it is read. Members that nobody reads are skipped.
///
/// Recipients ignore unknown members (RFC 7519 §4, RFC 7517 §5). So an unknown member may be deeper, longer or larger
/// than ``StrictJSON`` permits. Names are strict: a duplicate is refused. Values are parsed by ``StrictJSON``, so there
/// is still one parser. Skipping takes linear time and no recursion.
public struct JSONOutline: Sendable {
    private let bytes: [UInt8]
    private let members: [(name: String, place: Range<Int>)]

    /// The value of a member that ``StrictJSON`` refuses. It has a type that no reader expects.
    static let unreadable = JSONValue.array([.null])
}

public extension JSONOutline {
    /// Finds the members of an object.
    ///
    /// - Throws: ``JSONDefect`` for anything that is not one JSON object in UTF-8.
    init(_ text: some Collection<UInt8>) throws(JSONDefect) {
        let bytes = Array(text)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONDefect(path: "$", problem: "is not UTF-8")
        }
        members = try Self.scan(bytes) { reader throws(JSONDefect) in try reader.outline() }
        self.bytes = bytes
    }

    /// The names of the members, in order.
    var names: [String] { members.map(\.name) }

    /// Whether there is a member with a name. It is not parsed.
    func has(_ name: String) -> Bool { place(of: name) != nil }

    /// The member with a name; `nil` if there is none.
    subscript(_ name: String) -> JSONValue? {
        place(of: name).map { (try? StrictJSON.parse(bytes[$0])) ?? Self.unreadable }
    }

    /// Why the member with a name cannot be read; `nil` if it can, or if there is none.
    func defect(of name: String) -> JSONDefect? {
        guard let place = place(of: name) else { return nil }
        do throws(JSONDefect) {
            _ = try StrictJSON.parse(bytes[place])
            return nil
        } catch {
            return error
        }
    }

    /// The elements of a member that is an array, as far as each can be read; `nil` if the member is not an array.
    func readableElements(of name: String) -> [JSONValue]? {
        guard let place = place(of: name) else { return nil }
        let array = Array(bytes[place])
        let places = try? Self.scan(array) { reader throws(JSONDefect) in try reader.elements() }
        return places?.compactMap { try? StrictJSON.parse(array[$0]) }
    }

    private func place(of name: String) -> Range<Int>? {
        members.first { $0.name.hasSameBytes(as: name) }?.place
    }

    private static func scan<Found>(
        _ bytes: [UInt8], _ body: (inout StrictJSON) throws(JSONDefect) -> Found
    ) throws(JSONDefect) -> Found {
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<Found, JSONDefect> in
            var reader = StrictJSON(bytes: buffer)
            do throws(JSONDefect) { return .success(try body(&reader)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension StrictJSON {
    /// Where the values of the document's members are, if it is an object.
    fileprivate mutating func outline() throws(JSONDefect) -> [(name: String, place: Range<Int>)] {
        var members: [(name: String, place: Range<Int>)] = []
        try list("{", "}") { reader throws(JSONDefect) in
            let name = try reader.memberName()
            guard !members.contains(where: { $0.name.hasSameBytes(as: name) }) else {
                throw reader.defect("\(name.prefix(64)) occurs twice")
            }
            guard members.count < Self.maximumCount else { throw reader.defect("too many members") }
            members.append((name, try reader.skipValue()))
        }
        return members
    }

    /// Where the elements of the document are, if it is an array.
    fileprivate mutating func elements() throws(JSONDefect) -> [Range<Int>] {
        var elements: [Range<Int>] = []
        try list("[", "]") { reader throws(JSONDefect) in elements.append(try reader.skipValue()) }
        return elements
    }

    /// Reads the document as a list between two brackets.
    private mutating func list(
        _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ part: (inout StrictJSON) throws(JSONDefect) -> Void
    ) throws(JSONDefect) {
        skipSpace()
        guard next == UInt8(ascii: opening) else { throw defect("does not begin with \(opening)") }
        position += 1
        skipSpace()
        if next != UInt8(ascii: closing) {
            while true {
                try part(&self)
                skipSpace()
                guard next == UInt8(ascii: ",") else { break }
                position += 1
            }
        }
        guard next == UInt8(ascii: closing) else { throw defect("expected a comma or \(closing)") }
        position += 1
        skipSpace()
        guard next == nil else { throw defect("there is text after the value") }
    }

    private mutating func memberName() throws(JSONDefect) -> String {
        skipSpace()
        guard next == UInt8(ascii: "\"") else { throw defect("expected a member name") }
        let name = try string()
        try colon()
        return name
    }

    private mutating func colon() throws(JSONDefect) {
        skipSpace()
        guard next == UInt8(ascii: ":") else { throw defect("expected a colon") }
        position += 1
    }

    /// Skips one value by JSON's grammar alone. Brackets that are open are kept in a list, not on the stack.
    private mutating func skipValue() throws(JSONDefect) -> Range<Int> {
        skipSpace()
        let start = position
        var closing: [UInt8] = []
        repeat {
            skipSpace()
            if try !skipScalar() {
                let bracket = next == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
                position += 1
                closing.append(bracket)
                skipSpace()
                if next != bracket {
                    if bracket == UInt8(ascii: "}") { try skipName() }
                    continue
                }
            }
            try skipEnds(&closing)
        } while !closing.isEmpty
        return start..<position
    }

    /// Skips what follows a value: closing brackets, and a comma if the list goes on.
    private mutating func skipEnds(_ closing: inout [UInt8]) throws(JSONDefect) {
        while let bracket = closing.last {
            skipSpace()
            if next == bracket {
                position += 1
                closing.removeLast()
            } else {
                guard next == UInt8(ascii: ",") else { throw defect("expected a comma or the end of the list") }
                position += 1
                if bracket == UInt8(ascii: "}") { try skipName() }
                return
            }
        }
    }

    private mutating func skipName() throws(JSONDefect) {
        skipSpace()
        guard next == UInt8(ascii: "\"") else { throw defect("expected a member name") }
        _ = try scanString()
        try colon()
    }

    /// Skips a scalar; `false` if an object or an array begins here.
    private mutating func skipScalar() throws(JSONDefect) -> Bool {
        switch next {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return false
        case UInt8(ascii: "\""): _ = try scanString()
        case UInt8(ascii: "t"): _ = try word("true", .null)
        case UInt8(ascii: "f"): _ = try word("false", .null)
        case UInt8(ascii: "n"): _ = try word("null", .null)
        case .some: _ = try scanNumber()
        case nil: throw defect("ends too early")
        }
        return true
    }
}
