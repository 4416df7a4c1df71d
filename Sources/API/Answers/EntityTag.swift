import HTTPTypes

/// The strong entity tag of a response (RFC 9110 §8.8.3).
struct EntityTag: Equatable, CustomStringConvertible {
    /// The text between the quotes.
    private let opaque: String

    /// - Parameter opaque: must not contain quotes or control characters.
    init(_ opaque: String) {
        self.opaque = opaque
    }

    /// The field's value, with its quotes.
    var description: String { "\"\(opaque)\"" }

    /// Whether a client that sent these fields already has this version. It has if `If-None-Match` (RFC 9110 §13.1.2)
    /// names the tag or is `*`. A weak tag with the same text matches too, because that field uses the weak comparison.
    func isKnown(to fields: HTTPFields) -> Bool {
        fields[values: .ifNoneMatch].contains { value in
            value.split(separator: ",").contains { item in
                let tag = item.drop { $0 == " " || $0 == "\t" }
                let text = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
                return text.trimmingSuffix(while: { $0 == " " || $0 == "\t" }) == description || text == "*"
            }
        }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
        guard let last = lastIndex(where: { !isDropped($0) }) else { return "" }
        return self[...last]
    }
}
