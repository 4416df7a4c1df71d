import Fixtures
import Testing

/// Whoever works around a library says so in two places: at the code, and where somebody looks when the library is
/// updated.
@Suite("The workarounds for libraries")
struct UpstreamTests {
    @Test("are named in their page, and name it in their comments")
    func page() throws {
        let rows = MarkdownDocument.rows(try MarkdownDocument("Sources/API/API.docc/Upstream.md").text)
        #expect(rows.count > 15)
        let listed = Set(rows.flatMap { MarkdownDocument.words($0.last ?? "") })
        let marked = try SourceFile.all(below: "Sources").filter { file in
            file.text.split(separator: "\n").contains { $0.contains("//") && $0.contains("Upstream.md") }
        }
        #expect(listed == Set(marked.map(\.name)))
        for row in rows { #expect(row.count == 4 && row.allSatisfy { !$0.isEmpty }, "\(row.first ?? "")") }
    }
}
