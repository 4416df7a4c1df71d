import Domain
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
            let text = "Ann" + sign + mark + " autofocus formaction=x"
            let start = Markup("Ann" + sign).bytes
            #expect(Markup(text).bytes == start + Array((PlainText.shown(mark) + " autofocus formaction=x").utf8))
            let field: Markup = "<input value=\"\(text)\">"
            #expect(field.bytes.starts(with: Array("<input value=\"".utf8) + start + Array(mark.utf8)))
            #expect(!start.dropFirst(4).contains(sign.utf8.first ?? 0))
        }
    }

    @Test("shows what cannot be seen but tab and line feed, and has no control character in the value of a field")
    func controls() {
        for value in UInt8.min...UInt8.max {
            let text = String(UnicodeScalar(value))
            let isKept = value == 0x09 || value == 0x0A || (0x20..<0x7F).contains(value) || value >= 0xA0
            let field: Markup = "<input value=\"\(text)\">"
            #expect(Self.text(field).contains("\u{FFFD}") == !isKept, "\(value)")
            let isSeen = isKept && value != 0xA0 && value != 0xAD
            #expect(Self.text(Markup(text)).contains("\\u{") == !isSeen, "\(value)")
        }
        // A byte of a longer sequence is no control character.
        for text in ["\u{C0}", "\u{C5}", "€", "\u{1F600}"] { #expect(Self.text(Markup(text)) == text) }
        let two = "a\u{85}\u{9F}b"
        let field: Markup = "<input value=\"\(two)\">"
        #expect(Self.text(field) == "<input value=\"a\u{FFFD}\u{FFFD}b\">")
        #expect(Self.text(Markup(two)) == "a\\u{85}\\u{9F}b")
    }

    @Test("shows lookalike ids of users apart, in the cell of a table, a fact, a link and a title")
    func lookalikes() {
        for (id, shown) in LookalikeIDs.all {
            let table = DataTable<String>("Users", none: "–", [.text("Id") { $0 }]).markup([id])
            var facts = Facts()
            facts.add("Id", id)
            for markup in [table, facts.markup, Page.Link(id, Links.bans).markup] {
                #expect(Self.text(markup).contains("<bdi>\(shown)</bdi>"), "\(shown)")
            }
            let page = Page(id, content: .empty).document(
                in: .init(administrator: nil, role: nil, node: "1", requestID: "1", staleness: 0, navigation: []))
            #expect(Self.text(page).contains("<h1><bdi>\(shown)</bdi></h1>"))
            // A text that is sent back stays as it is.
            let field: Markup = "<input name=\"id\" value=\"\(id)\">"
            #expect(Self.text(field).utf8.elementsEqual("<input name=\"id\" value=\"\(id)\">".utf8))
        }
    }

    @Test("has texts in bdi in every cell, fact and link that a page is made of")
    func cells() throws {
        for (name, count) in ["DataTable.swift": 1, "Facts.swift": 1, "Links.swift": 1, "Page.swift": 4] {
            let file = try #require(try SourceFile.all(of: "Console").first { $0.name == name })
            #expect(file.text.matches(of: /<bdi>\\\(/).count == count, "\(name)")
        }
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
