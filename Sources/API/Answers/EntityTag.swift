import HTTPTypes

/// The strong entity tag of an answer (RFC 9110 §8.8.3).
struct EntityTag: Equatable, CustomStringConvertible {
    /// What lies between the quotes.
    private let opaque: String

    /// - Parameter opaque: no quote and no control character.
    init(_ opaque: String) {
        self.opaque = opaque
    }

    /// The field's value, with its quotes.
    var description: String { "\"\(opaque)\"" }

    /// Whether a client that sent these fields has this version already: `If-None-Match` (RFC 9110 §13.1.2) names it, or
    /// is `*`. A weak tag of the same letters is one, as the comparison there is the weak one.
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
