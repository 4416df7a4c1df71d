import Fixtures
import Testing

@testable import Console

@Suite("HTML of the console")
struct MarkupTests {
    private static func text(_ markup: Markup) -> String { String(decoding: markup.bytes, as: UTF8.self) }

    @Test("has values escaped, and literals as they are")
    func escaping() {
        let name = "<a href=\"x\">'&"
        let cell: Markup = "<td title=\"\(name)\">\(name)</td>"
        let escaped = "&lt;a href=&quot;x&quot;&gt;&#39;&amp;"
        #expect(Self.text(cell) == "<td title=\"\(escaped)\">\(escaped)</td>")
        #expect(Markup(name) == "\(name)")
        let nested: Markup = "<tr>\(cell)</tr>\(-7)"
        #expect(Self.text(nested) == "<tr>\(Self.text(cell))</tr>-7")
    }

    @Test(
        "is escaped byte by byte: a combining mark after a sign does not hide the sign",
        arguments: ["\u{301}", "\u{20DD}", "\u{FE0F}", "\u{200D}", "\u{E0061}"])
    func combiningMarks(mark: String) {
        for sign in ["<", ">", "&", "\"", "'"] {
            let markup = Markup("Ann" + sign + mark + " autofocus formaction=x")
            let (start, end) = (Markup("Ann" + sign).bytes, Array((mark + " autofocus formaction=x").utf8))
            #expect(markup.bytes == start + end)
            #expect(!start.dropFirst(4).contains(sign.utf8.first ?? 0))
        }
    }

    @Test("has no control character of a value but tab and line feed")
    func controls() {
        for value in UInt8.min...UInt8.max {
            let text = String(UnicodeScalar(value))
            let isKept = value == 0x09 || value == 0x0A || (0x20..<0x7F).contains(value) || value >= 0xA0
            #expect(Self.text(Markup(text)).contains("\u{FFFD}") == !isKept, "\(value)")
        }
        // A byte of a longer sequence is no control character.
        for text in ["\u{C0}", "\u{A0}\u{C5}", "€", "\u{1F600}"] { #expect(Self.text(Markup(text)) == text) }
        let two = "a\u{85}\u{9F}b"
        #expect(Self.text(Markup(two)) == "a\u{FFFD}\u{FFFD}b")
    }

    @Test("has each value of an attribute in double quotes, and no script, style or handler in any literal")
    func sources() throws {
        let files = try SourceFile.all(of: "Console")
        #expect(files.count >= 8)
        for file in files {
            #expect(!file.text.contains(/[a-z]=\\\(/), "\(file.path) has a value without quotes")
            #expect(!file.text.contains(/[a-z]='/), "\(file.path) has a value in single quotes")
            // The origin of the console itself is a text that requests are compared with.
            let address = file.name == "Console.swift" ? [] : ["https://"]
            for word in ["<script", "<style", " style=", "javascript:", "http://"] + address {
                #expect(!file.text.contains(word), "\(file.path) has \(word)")
            }
            #expect(!file.text.contains(/\son[a-z]+=\\?"/), "\(file.path) has a handler")
        }
    }
}
