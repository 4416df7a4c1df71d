import Domain

/// A piece of HTML. It is made of literals in the source, which are HTML, and of values, which are escaped.
///
/// A value is escaped byte by byte. Swift joins a quote and a following combining mark to one `Character`, so a
/// comparison by characters would not find the quote. Only texts and numbers are values: a secret does not compile.
/// An attribute's value is always in double quotes.
///
/// What cannot be seen in a text is shown as `\u{202E}` and the like, as on the command line. A text in `<bdi>` is not
/// the source's own, so its unseen blanks are shown too. The value of a form's field stays as it is, because it is sent
/// back.
struct Markup: Sendable, Equatable, ExpressibleByStringInterpolation {
    /// The bytes of the HTML, in UTF-8.
    private(set) var bytes: [UInt8]

    init(stringLiteral literal: StaticString) {
        bytes = literal.withUTF8Buffer { Array($0) }
    }

    init(stringInterpolation parts: Parts) {
        bytes = parts.bytes
    }

    /// HTML that shows a text, as in an interpolation.
    init(_ text: String) {
        bytes = []
        Self.show(text, in: &bytes)
    }

    fileprivate init(lines: [Markup]) {
        bytes = Array(lines.map(\.bytes).joined(separator: CollectionOfOne(UInt8(ascii: "\n"))))
    }

    /// The literals and values of an interpolation.
    struct Parts: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: StaticString) {
            literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
        }

        mutating func appendInterpolation(_ text: String) { Markup.show(text, in: &bytes) }
        mutating func appendInterpolation(_ number: Int) { bytes.append(contentsOf: String(number).utf8) }
        mutating func appendInterpolation(_ markup: Markup) { bytes += markup.bytes }
        mutating func appendInterpolation(_ path: PagePath) { Markup.escape(path.text, to: &bytes) }
    }
}

extension Markup {
    static let empty: Markup = ""

    var isEmpty: Bool { bytes.isEmpty }

    fileprivate static func show(_ text: String, in bytes: inout [UInt8]) {
        if bytes.ends(with: " value=\"") {
            escape(text, to: &bytes)
        } else {
            let isForeign = bytes.ends(with: "<bdi>")
            escape(PlainText.shown(text, keeping: isForeign ? ["\n", "\t"] : ["\n", "\t", " "]), to: &bytes)
        }
    }

    /// Escapes the five signs of HTML. HTML has no way to write a control character, so each becomes U+FFFD, except
    /// tab and line feed. Those from U+0080 to U+009F have two bytes.
    fileprivate static func escape(_ text: String, to bytes: inout [UInt8]) {
        var former: UInt8 = 0
        for byte in text.utf8 {
            defer { former = byte }
            switch byte {
            case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
            case UInt8(ascii: "\""): bytes.append(contentsOf: "&quot;".utf8)
            case UInt8(ascii: "'"): bytes.append(contentsOf: "&#39;".utf8)
            case 0x09, 0x0A: bytes.append(byte)
            case ..<0x20, 0x7F: bytes.append(contentsOf: "\u{FFFD}".utf8)
            case 0x80..<0xA0 where former == 0xC2:
                bytes.removeLast()
                bytes.append(contentsOf: "\u{FFFD}".utf8)
            default: bytes.append(byte)
            }
        }
    }
}

extension [UInt8] {
    fileprivate func ends(with literal: StaticString) -> Bool {
        literal.withUTF8Buffer { count >= $0.count && suffix($0.count).elementsEqual($0) }
    }
}

extension [Markup] {
    /// The pieces in a row, each on its own line.
    func joined() -> Markup {
        Markup(lines: self)
    }
}
