import Testing

@testable import Console

/// The elements of a page with the names of their attributes, in order. Text that shows as it is adds none.
struct PageSkeleton: Equatable {
    private(set) var elements: [String] = []
    /// The values of the attribute `id`.
    private(set) var identifiers: [String] = []

    init(_ markup: Markup) {
        var rest = markup.bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...].dropFirst()
            var words = [Self.word(&rest)]
            while let byte = rest.first, byte != UInt8(ascii: ">") {
                guard byte != UInt8(ascii: " ") else {
                    rest = rest.dropFirst()
                    continue
                }
                let name = Self.word(&rest)
                let value = Self.value(&rest)
                if name.isEmpty, value == nil { rest = rest.dropFirst() }
                if name == "id", let value { identifiers.append(value) }
                words.append(name)
            }
            elements.append(words.joined(separator: " "))
        }
    }

    private static func word(_ rest: inout ArraySlice<UInt8>) -> String {
        let word = rest.prefix { !" =>\n\"<".utf8.contains($0) }
        rest = rest.dropFirst(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    /// The value of an attribute; `nil` if it has none.
    private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.starts(with: "=\"".utf8) else { return nil }
        rest = rest.dropFirst(2)
        let value = rest.prefix { $0 != UInt8(ascii: "\"") }
        rest = rest.dropFirst(value.count + 1)
        return String(decoding: value, as: UTF8.self)
    }
}

extension Page {
    private static let frame = Page.Frame(
        administrator: "lena", role: "security", node: "a1", requestID: "r1", staleness: 1, navigation: [])

    var markup: Markup { document(in: Self.frame) }
    var text: String { String(decoding: markup.bytes, as: UTF8.self) }

    /// The page is one that every browser reads alike: each id is there once, and a field has its label.
    func requireWellFormed(_ location: SourceLocation = #_sourceLocation) {
        let skeleton = PageSkeleton(markup)
        let ids = skeleton.identifiers
        #expect(Set(ids).count == ids.count, "\(ids)", sourceLocation: location)
        #expect(skeleton.elements.count { $0 == "h1" } == 1, sourceLocation: location)
        for element in ["table", "details", "form", "ul", "dl", "section", "select", "p", "bdi", "a", "li"] {
            let begun = skeleton.elements.count { $0.split(separator: " ").first.map(String.init) == element }
            let ended = skeleton.elements.count { $0 == "/\(element)" }
            #expect(begun == ended, "\(element)", sourceLocation: location)
        }
        let fields = text.matches(of: /<(?:input type="text"|input type="checkbox"|select|textarea) id="([a-z_]+)"/)
        for field in fields { #expect(text.contains("<label for=\"\(field.1)\">"), sourceLocation: location) }
    }
}

/// Texts that a page must show as they are.
enum HostileText {
    /// A quote that is one `Character` with a combining mark, an end of a cell, an attribute, and elements.
    static let markup = "Ann\"\u{301} onfocus=alert(1) x=\"'></td></bdi></dd><script>alert(2)</script><!--&lt;"
    /// A name in Hebrew, and one in Arabic.
    static let rightToLeft = "שרה لينا"
    static let long = String(repeating: "Wolfeschlegelsteinhausenbergerdorff", count: 7)
    static let control = "\u{0}\u{1B}[31m\u{202E}"

    static let all = [markup, rightToLeft, long, control]
}
