import Testing

@testable import Domain

@Suite("A provider's slug")
struct SlugTests {
    @Test("is derived from a name of Latin letters, with accents left out")
    func derived() {
        for (name, slug) in [
            ("Acme", "acme"), ("Café Müller", "cafe-muller"), ("Cafe\u{301} 24/7", "cafe-24-7"),
            ("  ACME & Sons, Inc.  ", "acme-sons-inc"), ("Đà Nẵng Ao", "da-nang-ao"),
            ("İstanbul Øresund Łódź", "istanbul-oresund-lodz"), ("Æsir Œuvre Þing", "aesir-oeuvre-thing"),
            ("STRAẞE Straße Ðe Ħal Irmağı", "strasse-strasse-de-hal-irmagi"), ("Acme ไทย", "acme"),
            (String(repeating: "a", count: 39) + " b", String(repeating: "a", count: 39)),
            (String(repeating: "a", count: 50), String(repeating: "a", count: 40)),
        ] {
            #expect(Slug(from: name)?.text == slug, "\(name)")
        }
        for name in ["ไทย", "株式会社", "—", ""] { #expect(Slug(from: name) == nil, "\(name)") }
    }

    @Test("has lower-case letters of ASCII, digits and inner hyphens, 40 at most")
    func grammar() {
        for text in ["a", "7", "acme-7", "a--b", "xn--caf-dma", String(repeating: "a", count: 40)] {
            #expect(Slug(text)?.text == text)
        }
        let long = String(repeating: "a", count: 41)
        for text in ["", "-", "-a", "a-", "Acme", "a_b", "a.b", "a b", "a/b", "café", "cafe\u{301}", "ไทย", "٣", long] {
            #expect(Slug(text) == nil, "\(text)")
        }
    }
}
