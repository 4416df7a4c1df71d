import Domain
import Testing

@testable import Console

@Suite("The routes of the console")
struct RouteTableTests {
    private static func route(_ kind: ConsoleRoute.Kind, _ path: StaticString) -> ConsoleRoute {
        ConsoleRoute(
            kind: kind, path: path, right: .resolve, cost: .read, isPersonal: false, subject: { _ in "" },
            answer: { _ in .seeOther(PagePath("/")) })
    }

    private static let table = RouteTable([
        route(.page, "/"), route(.page, "/bans/{}"), route(.page, "/bans/new"), route(.action, "/bans/new"),
        route(.action, "/users/{}/sessions/{}/end"),
    ])

    /// What a path leads to, as `/bans/{} b1`.
    private static func find(_ kind: ConsoleRoute.Kind, _ path: String) -> String {
        switch table.find(kind, Substring(path)) {
        case .route(let route, let segments): ([route.path.description] + segments).joined(separator: " ")
        case .otherKind: "other kind"
        case .nowhere: "nowhere"
        }
    }

    @Test("are found by every byte of the path, a fixed segment before a placeholder")
    func found() {
        for (path, expected) in [
            ("/", "/"), ("/bans/b1", "/bans/{} b1"), ("/bans/new", "/bans/new"), ("/bans/new1", "/bans/{} new1"),
            ("/bans/%C3%A4%2F%20", "/bans/{} ä/ "), ("", "nowhere"), ("//", "nowhere"), ("/bans", "nowhere"),
            ("/bans/", "nowhere"), ("/bans/b1/", "nowhere"), ("/Bans/b1", "nowhere"), ("/%62ans/b1", "nowhere"),
            ("bans/b1", "nowhere"), ("/bans/%", "nowhere"), ("/bans/%0A%00", "nowhere"), ("/bans/%FF", "nowhere"),
            ("/bans/" + String(repeating: "a", count: 257), "nowhere"),
            ("/bans/" + String(repeating: "a", count: 256), "/bans/{} " + String(repeating: "a", count: 256)),
            ("/bans/a" + String(repeating: "%CC%81", count: 31), "nowhere"),
        ] { #expect(Self.find(.page, path) == expected, "\(path)") }
    }

    @Test("have pages and actions apart, with the values of each placeholder in order")
    func kinds() {
        #expect(Self.find(.action, "/bans/new") == "/bans/new" && Self.find(.action, "/bans/b1") == "other kind")
        #expect(Self.find(.action, "/users/u1/sessions/s1/end") == "/users/{}/sessions/{}/end u1 s1")
        #expect(Self.find(.page, "/users/u1/sessions/s1/end") == "other kind")
    }

    @Test("are listed once each, and begin with a slash")
    func listed() {
        let names = ConsoleRoutes.all.map { "\($0.kind) \($0.path)" }
        #expect(Set(names).count == names.count)
        for route in ConsoleRoutes.all { #expect(route.path.description.utf8.first == UInt8(ascii: "/")) }
    }

    @Test("read each field once, and none with characters that no text has")
    func fields() throws {
        #expect(try Target.values("a=1&b=x+y%2B&c".utf8) == ["a": "1", "b": "x y+", "c": ""])
        #expect(try Target.values("note=a%0D%0Ab%09".utf8) == ["note": "a\r\nb\t"])
        let many = (0...64).map { "f\($0)=1" }.joined(separator: "&")
        for text in ["a=1&a=2", "a=%0", "a=%00", "%07=1", "a=%80", many, String(repeating: "n", count: 65) + "=1"] {
            #expect(throws: Refusal.fieldsUnreadable) { try Target.values(text.utf8) }
        }
        #expect(["a:1", "a", "[::1]:8443", "[::1]"].map(Target.host) == ["a", "a", "::1", "::1"])
    }
}
