import Foundation
import Testing

@testable import Console

@Suite("Facts of a page")
struct FactsTests {
    @Test("show texts, numbers, times and links, and a dash for what there is not")
    func values() {
        var facts = Facts()
        facts.add("Text", "<b>עולם")
        facts.add("Empty", "")
        facts.add("None", nil as String?)
        facts.add("Number", 7)
        facts.add("Time", Date(timeIntervalSince1970: 0))
        facts.add("Never", nil as Date?, none: "Never")
        facts.add("Link", Page.Link("a", PagePath("/a")).markup)
        let wanted = """
            <dl class="facts">
            <dt>Text</dt><dd><bdi>&lt;b&gt;עולם</bdi></dd>
            <dt>Empty</dt><dd>–</dd>
            <dt>None</dt><dd>–</dd>
            <dt>Number</dt><dd>7</dd>
            <dt>Time</dt><dd><time datetime="1970-01-01T00:00:00Z">1970-01-01T00:00:00Z</time></dd>
            <dt>Never</dt><dd>Never</dd>
            <dt>Link</dt><dd><a href="/a"><bdi>a</bdi></a></dd>
            </dl>
            """
        #expect(String(decoding: facts.markup.bytes, as: UTF8.self) == wanted)
    }
}
