/// A JSON value (RFC 8259) from the strict parser. Members keep their order; there are no duplicates.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A whole number within 64 bits, written without fraction or exponent.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])
}

public extension JSONValue {
    /// The member of an object by name; `nil` if this is not an object or has no such member.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.hasSameBytes(as: name) }?.value
    }

    /// An object of names and values in order; a `nil` value omits its member.
    static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { JSONMember(name: name, value: $0) } })
    }

    /// The text of a string value; `nil` for any other value.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}

/// A name and its value in an object.
public struct JSONMember: Sendable, Equatable {
    public let name: String
    public let value: JSONValue

    public init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}
