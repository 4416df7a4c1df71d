import Fixtures
import Foundation
import Testing

@Suite("The version of Swift in documents")
struct StatedVersionTests {
    /// These name faults of versions, whichever is in use.
    private static let others: Set<String> = ["Sources/API/API.docc/Upstream.md"]

    @Test("is that of the compiler that builds the service")
    func swift() async throws {
        let printed = try await Command.run("swift", ["--version"]).output
        let used = try #require(printed.firstMatch(of: /Swift version ([0-9]+\.[0-9]+)/)?.1)
        var documents: Set<String> = []
        for document in try MarkdownDocument.all() where !Self.others.contains(document.path) {
            for found in document.text.matches(of: /Swift(?:\]\([^)]*\))? ([0-9]+\.[0-9]+)/) {
                documents.insert(document.path)
                #expect(found.1 == used, "\(document.path)")
            }
        }
        #expect(documents.isSuperset(of: ["README.md", ".github/CONTRIBUTING.md", "Sources/Packaging/README.md"]))
    }
}
