import Foundation
import HTTPTypes
import Testing

@testable import Console

@Suite("A page of the console")
struct PageTests {
    private static let frame = Page.Frame(
        administrator: "lena", role: "support", node: "a1", requestID: "r1", staleness: 12,
        navigation: [Page.Link("Search", PagePath("/search"))])

    private static func text(_ markup: Markup) -> String { String(decoding: markup.bytes, as: UTF8.self) }

    @Test("has one heading, a link to its content, and says whose view it is")
    func frame() {
        let page = Page("Users & bans", content: "<p>None.</p>")
        let text = Self.text(page.document(in: Self.frame))
        #expect(text.hasPrefix("<!doctype html>\n<html lang=\"en\">"))
        #expect(text.matches(of: /<h1>/).count == 1 && text.contains("<h1><bdi>Users &amp; bans</bdi></h1>"))
        #expect(text.contains("<a class=\"skip\" href=\"#content\">") && text.contains("<main id=\"content\""))
        #expect(text.contains("<bdi>lena</bdi>, support. Node a1. View of the store 1.2 s old."))
        #expect(text.contains("<li><a href=\"/search\"><bdi>Search</bdi></a></li>"))
        #expect(text.contains("<footer><p>Request r1</p></footer>"))
        #expect(!text.contains("http-equiv") && !text.contains("Breadcrumb"))
    }

    @Test("shows the pages above it, and is loaded again if it says so")
    func trail() {
        let page = Page("Ann", above: [Page.Link("Search", PagePath("/search"))], refresh: 30, content: "")
        let text = Self.text(page.document(in: Self.frame))
        #expect(text.contains("<nav aria-label=\"Breadcrumb\">"))
        #expect(text.contains("<li aria-current=\"page\"><bdi>Ann</bdi></li>"))
        #expect(text.contains("<meta http-equiv=\"refresh\" content=\"30\">"))
    }

    @Test("shows no element or attribute that a name contains")
    func names() {
        let name = "Ann\"\u{301} autofocus></bdi><h1>"
        let page = Page(name, above: [Page.Link(name, PagePath("/users").appending(name))], content: "\(name)")
        let text = Self.text(page.document(in: Self.frame))
        #expect(text.matches(of: /<h1>/).count == 1)
        #expect(text.matches(of: /<\/bdi><\/h1>/).count == 1)
        #expect(!text.contains(/\sautofocus>/))
    }

    @Test("has a table whose columns and rows have headers, or a sentence instead")
    func table() {
        let table = DataTable<(String, Int)>(
            "Bans", none: "There is no ban.",
            [
                .text("Subject") { $0.0 }, .init("Users") { "\($0.1)" }, .text("Note") { _ in nil },
                .text("Reason") { _ in "" },
            ])
        let text = Self.text(table.markup([("<ann>", 3), ("ben", 1)]))
        #expect(text.contains("<caption>Bans</caption>"))
        #expect(text.matches(of: /<th scope="col">/).count == 4 && text.matches(of: /<th scope="row">/).count == 2)
        #expect(text.contains("<th scope=\"row\"><bdi>&lt;ann&gt;</bdi></th>\n<td>3</td>\n<td>–</td>\n<td>–</td>"))
        #expect(Self.text(table.markup([])) == "<h2>Bans</h2>\n<p>There is no ban.</p>")
    }

    @Test("has links whose values stay in their place")
    func paths() {
        let users = PagePath("/users")
        #expect(users.appending("a/b?c#d").text == "/users/a%2Fb%3Fc%23d")
        #expect(users.appending("..").text == "/users/%252E%252E" && PagePath("/").appending("x").text == "/x")
        let page = users.adding("after", "x&y=z").adding("none", nil).adding("state", "é")
        #expect(page.text == "/users?after=x%26y%3Dz&state=%C3%A9")
    }

    @Test("leads to the next part of a list only if there is one")
    func pager() {
        let path = PagePath("/bans").adding("state", "active")
        #expect(Pager(path, cursor: nil, next: nil).markup == "")
        let first = Self.text(Pager(path, cursor: nil, next: "b<1").markup)
        #expect(first.contains("href=\"/bans?state=active&amp;after=b%3C1\"") && !first.contains("First page"))
        let last = Self.text(Pager(path, cursor: "b1", next: nil).markup)
        #expect(last.contains("First page") && !last.contains("Next page"))
        let rows = Array(1...5)
        let (shown, next) = Pager.page(rows, limit: 4) { String($0) }
        #expect(shown == [1, 2, 3, 4] && next == "4")
        #expect(Pager.page(rows, limit: 5) { String($0) }.next == nil)
    }

    @Test("is stored and framed nowhere, loads its style only, and sends forms to its own service only")
    func fields() throws {
        let fields = PageHeaders.fields
        let policy = try #require(fields[.contentSecurityPolicy])
        for directive in [
            "default-src 'none'", "style-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        ] { #expect(policy.contains(directive)) }
        #expect(!policy.contains("script") && !policy.contains("unsafe") && fields[.cacheControl] == "no-store")
        let names = Set(fields.map { $0.name.canonicalName })
        for name in ["referrer-policy", "cross-origin-opener-policy", "cross-origin-resource-policy"] {
            #expect(names.contains(name))
        }
    }
}
