import Encoding

/// Named values that apps store with a stream, such as the caption of a picture or the colour of a thread.
package struct StreamMetadata: Sendable, Equatable, Confidential {
    package let value: JSONValue
}

package extension StreamMetadata {
    static let maximumBytes = 16_384
    static let maximumKeys = 200
    static let maximumDepth = 8

    static let empty = StreamMetadata(stored: .object([]))

    /// Validates an object.
    ///
    /// - Throws: ``Refusal`` `malformed_request` for another type, and if the object is too large.
    init(_ value: JSONValue, about subject: Refusal.Subject) throws(Refusal) {
        guard case .object = value else { throw Refusal.notObject(subject) }
        try Self.requireBounds(value, about: subject)
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
    func merged(with patch: JSONValue, about subject: Refusal.Subject) throws(Refusal) -> StreamMetadata {
        guard case .object = patch else { throw Refusal.notObject(subject) }
        // Checked first, so that the work is bounded.
        try Self.requireBounds(patch, about: subject)
        let merged = Self.merge(patch, into: value)
        try Self.requireBounds(merged, about: subject)
        return StreamMetadata(stored: merged)
    }

    private static func merge(_ patch: JSONValue, into target: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [JSONMember] = []
        if case .object(let present) = target { members = present }
        for change in changes {
            let index = members.firstIndex { $0.name == change.name }
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

    private static func requireBounds(_ value: JSONValue, about subject: Refusal.Subject) throws(Refusal) {
        var keys = 0
        guard isShallow(value, depth: 1, &keys), keys <= maximumKeys, value.jsonText.utf8.count <= maximumBytes else {
            throw Refusal.metadataTooLarge(subject)
        }
    }

    private static func isShallow(_ value: JSONValue, depth: Int, _ keys: inout Int) -> Bool {
        switch value {
        case .object(let members):
            keys += members.count
            guard depth <= maximumDepth, keys <= maximumKeys else { return false }
            for member in members where !isShallow(member.value, depth: depth + 1, &keys) { return false }
            return true
        case .array(let values):
            keys += values.count
            guard depth <= maximumDepth, keys <= maximumKeys else { return false }
            for value in values where !isShallow(value, depth: depth + 1, &keys) { return false }
            return true
        default: return true
        }
    }
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
