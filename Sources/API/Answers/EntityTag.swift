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
        let wanted = description.utf8
        return fields.items(of: .ifNoneMatch).contains { item in
            let tag = item.starts(with: "W/".utf8) ? item.dropFirst(2) : item
            return tag.elementsEqual(wanted) || item.elementsEqual("*".utf8)
        }
    }
}
