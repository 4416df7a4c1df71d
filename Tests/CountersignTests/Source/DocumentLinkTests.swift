import Fixtures
import Foundation
import Testing

@Suite("The documents")
struct DocumentLinkTests {
    static let documents = [
        "README.md", "Policies/README.md", "Policies/ThreatModel.md", "Keys/README.md",
        "Sources/API/API.docc/Protocol.md", "Sources/countersign/countersign.docc/Operating.md",
        "Sources/countersign/countersign.docc/Decisions.md",
    ]

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
        for document in Self.documents.dropFirst() { #expect(text.contains("](\(document))"), "\(document)") }
    }
}
