import HTTPTypes
import Testing

@testable import Console

@Suite("A request to the console")
struct SameOriginTests {
    private static let console = SameOrigin(origin: "https://console.example:8443")
    private static let form = "application/x-www-form-urlencoded"

    private static func fields(_ pairs: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    @Test("may read if it comes from the console or from no page, and from no other site")
    func reading() {
        for (site, isPermitted) in [
            ("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false), ("Same-Origin", false),
            ("", false), ("none\u{301}", false),
        ] {
            #expect(Self.console.permitsReading(Self.fields([("Sec-Fetch-Site", site)])) == isPermitted, "\(site)")
        }
        #expect(!Self.console.permitsReading(HTTPFields()))
        #expect(!Self.console.permitsReading(Self.fields([("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "none")])))
    }

    @Test("may act only as a form of the console's own page")
    func acting() {
        let own: [(String, String)] = [
            ("Sec-Fetch-Site", "same-origin"), ("Origin", Self.console.origin), ("Content-Type", Self.form),
        ]
        #expect(Self.console.permitsAction(Self.fields(own)))
        for place in own.indices {
            var lacking = own
            lacking.remove(at: place)
            #expect(!Self.console.permitsAction(Self.fields(lacking)), "without \(own[place].0)")
            #expect(!Self.console.permitsAction(Self.fields(own + [own[place]])), "\(own[place].0) twice")
        }
        for (place, value) in [
            (0, "none"), (0, "cross-site"), (1, "https://console.example"), (1, "http://console.example:8443"),
            (1, "https://console.example:8443.attacker.example"), (1, "null"), (2, "text/plain"),
            (2, "multipart/form-data; boundary=x"), (2, "application/x-www-form-urlencoded; charset=utf-8"),
        ] {
            var other = own
            other[place].1 = value
            #expect(!Self.console.permitsAction(Self.fields(other)), "\(value)")
        }
    }
}
