import Fixtures
import Foundation
import Testing

@Suite("The documents")
struct DocumentLinkTests {
    /// Every one of the repository.
    static let documents = ((try? MarkdownDocument.all()) ?? []).map(\.path)

    @Test("link to files and folders that are there", arguments: documents)
    func links(document: String) throws {
        for target in try MarkdownDocument(document).links() {
            let path = RunningService.root.appending(path: target).path
            #expect(FileManager.default.fileExists(atPath: path), "\(document) links to \(target)")
        }
    }

    @Test("begin with a README of at most 120 lines, from which links lead to all of them")
    func readme() throws {
        let text = try MarkdownDocument("README.md").text
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        #expect(Self.documents.count >= 40)
        var (found, next): (Set<String>, [String]) = (["README.md"], ["README.md"])
        while let document = next.popLast() {
            for target in try MarkdownDocument(document).links() where target.hasSuffix(".md") {
                if found.insert(target).inserted { next.append(target) }
            }
        }
        #expect(Self.documents.filter { !found.contains($0) } == [])
    }
}
