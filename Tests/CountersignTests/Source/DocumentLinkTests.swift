import Fixtures
import Foundation
import Testing

@Suite("The documents")
struct DocumentLinkTests {
    /// Every one of the repository.
    static let documents = ((try? MarkdownDocument.all()) ?? []).map(\.path)

    @Test("link to files and folders that are there", arguments: documents)
    func links(document: String) throws {
        let file = RunningService.root.appending(path: document)
        let text = try String(contentsOf: file, encoding: .utf8)
        for link in text.matches(of: /\]\(([^)\s]+)\)/) {
            let target = String(link.1)
            guard !target.hasPrefix("https://"), !target.hasPrefix("#") else { continue }
            let path = file.deletingLastPathComponent().appending(path: target.prefix { $0 != "#" }).path
            #expect(FileManager.default.fileExists(atPath: path), "\(document) links to \(target)")
        }
    }

    @Test("begin with a README of at most 180 lines, which links to all of them")
    func readme() throws {
        let text = try String(contentsOf: RunningService.root.appending(path: "README.md"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 181)
        #expect(Self.documents.count >= 14)
        for document in Self.documents where document != "README.md" {
            #expect(text.contains("](\(document))"), "\(document)")
        }
    }
}
