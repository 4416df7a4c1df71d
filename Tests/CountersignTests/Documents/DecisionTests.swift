import Foundation
import Testing

/// Decisions are read by somebody who is about to choose again, so each is short.
@Suite("The decisions")
struct DecisionTests {
    @Test("have eight pages, and entries of at most six lines")
    func lengths() throws {
        let pages = try MarkdownDocument.all().filter { $0.path.contains("/Decisions/") }
        #expect(pages.count == 8)
        for page in pages {
            let entries = page.text.components(separatedBy: "\n## ").dropFirst()
            #expect(entries.count > 5, "\(page.path)")
            for entry in entries {
                let lines = entry.split(separator: "\n")
                #expect(lines.count <= 7, "\(page.path): \(lines.first ?? "")")
                #expect(lines.allSatisfy { $0.count <= 120 }, "\(page.path): \(lines.first ?? "")")
            }
        }
    }
}
