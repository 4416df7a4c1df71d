import Encoding

/// Converts values between the interface and JSON. Fields and members have the same names.
public extension ThriftInterface {
    /// The fields of a structure as members of an object. A field that the interface does not declare, or declares with
    /// another type, is omitted, as Thrift's own readers do. So is text that is not UTF-8 or not stream-safe.
    func members(_ fields: [ThriftField], as declared: [Field]) -> [JSONMember] {
        declared.compactMap { field in
            guard let value = fields.last(where: { $0.id == field.id })?.value, let json = json(value, field.kind)
            else {
                return nil
            }
            return JSONMember(name: field.name, value: json)
        }
    }

    /// A value as JSON; `nil` if its type is not the declared one.
    func json(_ value: ThriftValue, _ kind: Kind) -> JSONValue? {
        switch (kind, value) {
        case (.bool, .bool(let value)): return .bool(value)
        case (.i32, .i32(let value)): return .integer(Int64(value))
        case (.i64, .i64(let value)): return .integer(value)
        case (.text, .bytes(let bytes)):
            // StrictJSON applies the same rule to request bodies.
            guard let text = String(validating: bytes, as: UTF8.self), text.isStreamSafe else { return nil }
            return .string(text)
        case (.binary, .bytes(let bytes)): return .string(Base64URL.encode(bytes))
        case (.json, .bytes(let bytes)): return try? StrictJSON.parse(bytes)
        case (.list(let kind), .list(_, let values)):
            let elements = values.compactMap { json($0, kind) }
            return elements.count == values.count ? .array(elements) : nil
        case (.structure(let name), .structure(let fields)):
            return .object(members(fields, as: structures[name] ?? []))
        default: return nil
        }
    }

    /// A JSON value as a value of the interface; `nil` for `null` and for a value of another type.
    func value(_ json: JSONValue, as kind: Kind) -> ThriftValue? {
        switch (kind, json) {
        case (.json, .null), (_, .null): return nil
        case (.json, _): return .text(json.jsonText)
        case (.bool, .bool(let value)): return .bool(value)
        case (.i32, .integer(let value)): return .i32(Int32(clamping: value))
        case (.i64, .integer(let value)): return .i64(value)
        case (.text, .string(let text)): return .text(text)
        case (.binary, .string(let text)): return Base64URL.decode(text).map { .bytes($0) }
        case (.list(let kind), .array(let values)):
            return .list(type(of: kind), values.compactMap { value($0, as: kind) })
        case (.structure(let name), .object):
            return .structure(
                (structures[name] ?? []).compactMap { field in
                    json[field.name].flatMap { value($0, as: field.kind) }.map { ThriftField(field.id, $0) }
                })
        default: return nil
        }
    }

    private func type(of kind: Kind) -> ThriftType {
        switch kind {
        case .bool: .bool
        case .i32: .i32
        case .i64: .i64
        case .text, .binary, .json: .bytes
        case .list: .list
        case .structure: .structure
        }
    }
}
