import Foundation

/// A JSON value that an app keeps with a stream or a message.
public indirect enum MetadataValue: Sendable, Hashable, Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([MetadataValue])
    case object([String: MetadataValue])

    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let found = try? value.decode(Bool.self) {
            self = .bool(found)
        } else if let found = try? value.decode(Int64.self) {
            self = .integer(found)
        } else if let found = try? value.decode(Double.self) {
            self = .number(found)
        } else if let found = try? value.decode(String.self) {
            self = .text(found)
        } else if let found = try? value.decode([MetadataValue].self) {
            self = .list(found)
        } else {
            self = .object(try value.decode([String: MetadataValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let one): try value.encode(one)
        case .integer(let one): try value.encode(one)
        case .number(let one): try value.encode(one)
        case .text(let one): try value.encode(one)
        case .list(let some): try value.encode(some)
        case .object(let some): try value.encode(some)
        }
    }

    /// A member of the object; `nil` if this is not an object or lacks the member.
    public subscript(_ name: String) -> MetadataValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The value after a merge patch (RFC 7396 §2): objects are merged, `null` removes, anything else replaces.
    public func merged(with patch: MetadataValue) -> MetadataValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [String: MetadataValue] = [:]
        if case .object(let present) = self { members = present }
        for (name, change) in changes {
            members[name] = change == .null ? nil : (members[name] ?? .null).merged(with: change)
        }
        return .object(members)
    }

    /// The merge patch that changes this object to another one. A patch cannot set a `null`.
    public func patch(to other: MetadataValue) -> MetadataValue {
        guard case .object(let new) = other, case .object(let old) = self else { return other }
        var changes: [String: MetadataValue] = [:]
        for name in old.keys where new[name] == nil { changes[name] = .null }
        for (name, value) in new where old[name] != value { changes[name] = (old[name] ?? .null).patch(to: value) }
        return .object(changes)
    }
}
