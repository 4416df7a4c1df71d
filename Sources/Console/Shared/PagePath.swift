import Encoding

/// The path of a page, with its query. Values in it are percent-encoded, so none can lead to another page or host.
struct PagePath: Sendable, Equatable {
    private(set) var text: String
    private var hasQuery = false

    /// - Parameter literal: an absolute path.
    init(_ literal: StaticString) {
        text = literal.description
    }
}

extension PagePath {
    /// This path with one more segment.
    func appending(_ segment: String) -> PagePath {
        var path = self
        path.text += (text.utf8.last == UInt8(ascii: "/") ? "" : "/") + Self.segment(segment)
        return path
    }

    /// This path with one more value in its query.
    ///
    /// - Parameter value: `nil` leaves the path unchanged.
    func adding(_ name: StaticString, _ value: String?) -> PagePath {
        guard let value else { return self }
        var path = self
        path.text += "\(hasQuery ? "&" : "?")\(name)=\(PercentEncoding.encode(value))"
        path.hasQuery = true
        return path
    }

    /// A browser resolves `.` and `..`, so their dots are encoded twice and no route finds them.
    private static func segment(_ text: String) -> String {
        text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
            ? text.utf8.map { _ in "%252E" }.joined() : PercentEncoding.encode(text)
    }
}
