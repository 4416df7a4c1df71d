@testable import Console

/// The elements of a page with the names of their attributes: what a text in it must not change.
struct PageShape: Equatable {
    private(set) var elements: [String] = []

    init(_ page: Page) { self.init(page.content) }

    init(_ markup: Markup) {
        var bytes = markup.bytes[...]
        while let start = bytes.firstIndex(of: UInt8(ascii: "<")) {
            var (end, isQuoted) = (bytes.index(after: start), false)
            while end < bytes.endIndex, isQuoted || bytes[end] != UInt8(ascii: ">") {
                if bytes[end] == UInt8(ascii: "\"") { isQuoted.toggle() }
                end = bytes.index(after: end)
            }
            elements.append(Self.element(bytes[bytes.index(after: start)..<end]))
            bytes = bytes[end...]
        }
    }

    /// The element's name and those of its attributes, without their values.
    private static func element(_ tag: ArraySlice<UInt8>) -> String {
        var (text, isQuoted) = ([UInt8](), false)
        for byte in tag {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() } else if !isQuoted { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ConsoleAnswer {
    /// The page; `nil` for another answer.
    var shown: Page? { if case .page(let page) = self { page } else { nil } }
    /// The path of a redirect; `nil` for another answer.
    var redirect: String? { if case .seeOther(let path) = self { path.text } else { nil } }
}

extension Page {
    var text: String { String(decoding: content.bytes, as: UTF8.self) }

    /// The ids of its elements. Labels and hints refer to them.
    var ids: [Substring] { text.matches(of: /\sid="([^"]*)"/).map(\.1) }
}

/// Texts that must not become markup, and names that people have.
enum Texts {
    static let plain = "plain"
    static let hostile = [
        "\"\u{301} onfocus=alert(1) autofocus=\"", "</td></table><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "' onmouseover='x", "\u{202E}evil\u{202C}", "\u{0}<b>", "&lt;b&gt;<!--", "]]>\u{7F}",
    ]
    static let rightToLeft = "محمد بن عبد الله الأنصاري"
    static let long = String(repeating: "Wolfeschlegelsteinhausenbergerdorff ", count: 8)
}
