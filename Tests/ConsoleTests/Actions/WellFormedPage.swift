import Testing

@testable import Console

extension Page {
    private static let frame = Page.Frame(
        administrator: "lena", role: "security", node: "a1", requestID: "r1", staleness: 1, navigation: [])

    /// The whole document.
    var markup: Markup { document(in: Self.frame) }

    /// Every browser reads the page alike: each id is there once, elements end, and a field has its label.
    func requireWellFormed(_ location: SourceLocation = #_sourceLocation) {
        let elements = PageShape(markup).elements.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        let ids = String(decoding: markup.bytes, as: UTF8.self).matches(of: #/ id="([^"]*)"/#).map { String($0.1) }
        #expect(Set(ids).count == ids.count, "\(ids)", sourceLocation: location)
        #expect(elements.count { $0 == "h1" } == 1, sourceLocation: location)
        for element in ["table", "details", "form", "ul", "dl", "section", "select", "p", "bdi", "a", "li"] {
            let (begun, ended) = (elements.count { $0 == element }, elements.count { $0 == "/\(element)" })
            #expect(begun == ended, "\(element)", sourceLocation: location)
        }
        let fields = text.matches(of: /<(?:input type="text"|input type="checkbox"|select|textarea) id="([a-z_]+)"/)
        for field in fields { #expect(text.contains("<label for=\"\(field.1)\">"), sourceLocation: location) }
    }
}

extension Texts {
    /// All that a column of text may contain.
    static let all = hostile + [rightToLeft, long]
}
