import Encoding

/// Named values that apps store with a stream or a message, such as the colour of a thread or a reaction.
package struct StreamMetadata: Sendable, Equatable, Confidential {
    package let value: JSONValue
}

package extension StreamMetadata {
    /// The largest size of metadata of one kind.
    struct Bounds: Sendable {
        package let bytes: Int
        let names: Int
        let levels: Int
    }

    static let empty = StreamMetadata(stored: .object([]))

    /// Validates an object.
    ///
    /// - Throws: ``Refusal`` `malformed_request` for another type, and if the object is too large.
    init(_ value: JSONValue, about subject: Refusal.Subject, within bounds: Bounds) throws(Refusal) {
        guard case .object = value else { throw Refusal.notObject(subject) }
        try Self.require(bounds, of: value, about: subject)
        self.value = value
    }

    /// - Parameter value: from the store, so it was validated before.
    init(stored value: JSONValue) { self.value = value }

    /// The longest value that is indexed, in bytes.
    static let longestIndexed = 256

    /// The texts of the values with some names, if they are strings, numbers, true or false, and not too long. Other
    /// values cannot be searched for.
    func indexed(_ names: [String]) -> [String: String] {
        var found: [String: String] = [:]
        for name in names {
            let text: String? =
                switch value[name] {
                case .string(let text): text
                case let value? where value.isScalar: value.jsonText
                default: nil
                }
            if let text, text.utf8.count <= Self.longestIndexed { found[name] = text }
        }
        return found
    }

    /// The metadata after a merge patch (RFC 7396): values replace those with the same name, objects are merged, and
    /// `null` removes.
    ///
    /// - Throws: ``Refusal`` `malformed_request` if patch or result is too large.
    func merged(
        with patch: JSONValue, about subject: Refusal.Subject, within bounds: Bounds
    ) throws(Refusal) -> StreamMetadata {
        guard case .object = patch else { throw Refusal.notObject(subject) }
        // Checked first, so that the work is bounded.
        try Self.require(bounds, of: patch, about: subject)
        let merged = Self.merge(patch, into: value)
        try Self.require(bounds, of: merged, about: subject)
        return StreamMetadata(stored: merged)
    }

    private static func merge(_ patch: JSONValue, into target: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [JSONMember] = []
        if case .object(let present) = target { members = present }
        for change in changes {
            let index = members.firstIndex { $0.name.hasSameBytes(as: change.name) }
            if case .null = change.value {
                if let index { members.remove(at: index) }
                continue
            }
            let merged = merge(change.value, into: index.map { members[$0].value } ?? .null)
            let member = JSONMember(name: change.name, value: merged)
            if let index { members[index] = member } else { members.append(member) }
        }
        return .object(members)
    }

    private static func require(
        _ bounds: Bounds, of value: JSONValue, about subject: Refusal.Subject
    ) throws(Refusal) {
        var names = 0
        guard isWithin(bounds, value, level: 1, &names), value.jsonText.utf8.count <= bounds.bytes else {
            throw Refusal.metadataTooLarge(subject, bounds)
        }
    }

    private static func isWithin(_ bounds: Bounds, _ value: JSONValue, level: Int, _ names: inout Int) -> Bool {
        switch value {
        case .object(let members):
            names += members.count
            guard level <= bounds.levels, names <= bounds.names else { return false }
            for member in members where !isWithin(bounds, member.value, level: level + 1, &names) { return false }
            return true
        case .array(let values):
            names += values.count
            guard level <= bounds.levels, names <= bounds.names else { return false }
            for value in values where !isWithin(bounds, value, level: level + 1, &names) { return false }
            return true
        default: return true
        }
    }
}

package extension StreamMetadata.Bounds {
    /// For the metadata of a stream.
    static let stream = Self(bytes: 16_384, names: 200, levels: 8)
    /// For the metadata of a message.
    static let message = Self(bytes: 4096, names: 50, levels: 8)
}

extension JSONValue {
    /// Whether it is a number, true or false.
    fileprivate var isScalar: Bool {
        switch self {
        case .bool, .integer, .number: true
        case .null, .string, .array, .object: false
        }
    }
}
